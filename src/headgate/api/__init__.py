"""What users hold: joins, lookups, groups, profiles, what-ifs and estimates."""

"""The public API: joins, lookups, join groups, profiles, what-ifs and estimates."""

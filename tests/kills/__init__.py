"""Real queries that are killed at random moments, and must put out what they would have anyway."""

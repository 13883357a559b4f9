"""Which stored row is worth least, for each kind of score."""

"""The join on row numbers: compiled loops over flat arrays, and their plain-Python twin."""

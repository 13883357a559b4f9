"""The join kernel: compiled loops over flat arrays of row numbers, and a plain-Python twin."""

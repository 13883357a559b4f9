"""Generated joins, compared with their plain-Python twin, with DuckDB, and with themselves."""

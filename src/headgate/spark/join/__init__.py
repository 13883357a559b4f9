"""Window joins as Spark queries."""

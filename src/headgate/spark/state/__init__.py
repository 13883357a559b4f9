"""A shard's durable state: tables in the state store, and local copies of them."""

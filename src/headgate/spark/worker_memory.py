"""The memory that a join's Python worker needs besides the stored rows."""

WORKER_BYTES = 640 << 20
"""Upper bound for rows of any width and any number of results: Python with its modules (200 MB), an
incoming Arrow batch (64 MB, and as much again as Python objects), arrivals in memory before they
spill to a file (32 MB), the current pairs and a piece of the result. Not included: about 200 bytes
of bookkeeping per row of the current batch, and single rows larger than all of this."""

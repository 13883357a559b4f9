"""What a Python worker of a join takes beside the rows that the join stores."""

WORKER_BYTES = 640 << 20
"""At most, for rows of any width and any number of results: Python with what is loaded (200 MB), an
Arrow batch of Spark's on its way in (64 MB, and as much again as Python objects), arrivals in
memory before they go to a file (32 MB), the pairs at hand and a piece of the result. Not in it are
the numbers that are kept of each row of a batch while it is joined, some 200 bytes, and a single
row that is larger than all of this."""

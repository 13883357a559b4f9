"""Saves Spark's Python workers needless garbage collection.

After every task a worker runs a full garbage collection, which with Numba and Arrow loaded takes
longer than many tasks. Loaded modules stay anyway, so they are excluded from it.
"""

import gc

TASKS = 3
"""Number of first tasks in a process that load code."""
_tasks = 0


def settle() -> None:
    """Call at the end of a task: exclude what is loaded by then from later collections."""
    global _tasks
    _tasks += 1
    if _tasks <= TASKS:
        gc.collect()
        gc.freeze()

"""What a Python worker of Spark's can be spared.

After every task a worker collects garbage, looking through all there is: with Numba and Arrow
loaded that takes longer than many a task. What was loaded once stays, and need not be looked at
again.
"""

import gc

TASKS = 3
"""In the first tasks of a process code is loaded."""
_tasks = 0


def settle() -> None:
    """Call at the end of a task: what is loaded by then is left out of collections to come."""
    global _tasks
    _tasks += 1
    if _tasks <= TASKS:
        gc.collect()
        gc.freeze()

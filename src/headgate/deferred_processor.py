"""What Spark gets of a shard's processor: its state variables, and the processor packed.

Before the first batch Spark starts a Python process of its own, only to ask a processor for its
state variables. That process should not load PyArrow, pandas and the engine, which takes longer
than all else it does; so this module imports nothing of Headgate, nor of PySpark.
"""

import pickle
from collections.abc import Iterator
from typing import Any

Variables = tuple[tuple[Any, ...], ...]
"""Names and types of state variables: two types, of key and value, for a map."""


def declared(handle: Any, variables: Variables) -> dict[str, Any]:
    """The state variables by name; only in a processor's ``init``."""
    return {
        name: (handle.getMapState if len(types) > 1 else handle.getValueState)(name, *types)
        for name, *types in variables
    }


class DeferredProcessor:
    """Stands in for a processor, which is unpacked when the first rows come or a timer is due.

    Parameters
    ----------
    variables
        The state variables of the processor.
    packed
        The processor's class and plan, pickled.
    """

    def __init__(self, variables: Variables, packed: bytes) -> None:
        self._variables, self._packed = variables, packed
        self._processor: Any = None

    def init(self, handle: Any) -> None:
        """Declare the state variables."""
        self._handle, self._states = handle, declared(handle, self._variables)

    def close(self) -> None:
        """Nothing to release."""

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Any]:
        """Process the rows of a batch."""
        return self._unpacked().handleInputRows(key, rows, timerValues)  # type: ignore[no-any-return]

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[Any]:
        """Process a timer that is due."""
        return self._unpacked().handleExpiredTimer(key, timerValues, expiredTimerInfo)  # type: ignore[no-any-return]

    def _unpacked(self) -> Any:
        if self._processor is None:
            made_of, plan = pickle.loads(self._packed)
            self._processor = made_of(plan)
            self._processor.begin(self._handle, self._states)
        return self._processor

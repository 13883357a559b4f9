"""Processor time of a join by part: the kernel, learning, and the rest."""

import time
from typing import Any

from headgate.kernel import advance
from headgate.learning.learner import Learner

PARTS = ("kernel", "learning", "rest")


class PartTimes:
    """Context manager that sums the processor time spent in the kernel and in learning."""

    PLACES: tuple[tuple[str, Any, str], ...] = (
        ("kernel", advance, "advance"),
        ("kernel", advance, "restore"),
        ("learning", Learner, "before"),
        ("learning", Learner, "after"),
        ("learning", Learner, "most_at_once"),
    )

    def __enter__(self) -> "PartTimes":
        self.seconds = {"kernel": 0.0, "learning": 0.0}
        self._usual = [getattr(owner, name) for _, owner, name in self.PLACES]
        for (part, owner, name), usual in zip(self.PLACES, self._usual, strict=True):
            setattr(owner, name, self._counted(part, usual))
        return self

    def _counted(self, part: str, usual: Any) -> Any:
        def counted(*args: Any) -> Any:
            began = time.process_time()
            result = usual(*args)
            self.seconds[part] += time.process_time() - began
            return result

        return counted

    def __exit__(self, *_: object) -> None:
        for (_part, owner, name), usual in zip(self.PLACES, self._usual, strict=True):
            setattr(owner, name, usual)

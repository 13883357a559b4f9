"""The budget of a join: stored rows or bytes, and CPU time."""

from dataclasses import dataclass
from typing import Literal

from headgate.spec.errors import SpecError
from headgate.spec.quantity import format_bytes, parse_bytes

Split = Literal["pooled", "planned"] | tuple[float, float]
UNLIMITED = 1 << 62
MONITOR = 0.05
"""The default share of the budget for the monitor, where one is needed."""
MOST_MONITOR = 0.5
RESERVE = 0.1
"""The part of a memory budget that a stream keeps back for bytes that are held but not live."""
USUAL_ROW_BYTES = 128


@dataclass(frozen=True, init=False)
class Budget:
    """Limits of a join over all shards: memory, CPU time, or both.

    Parameters
    ----------
    rows
        Stored rows.
    memory
        Stored bytes ("64 MB", "1 GiB" or a number of bytes): payload, per-row bookkeeping, and
        evicted rows whose bytes are not yet reclaimed.
    split
        ``"pooled"`` compares rows of both sides with each other; a pair of weights such as
        ``(3, 1)`` gives each side a fixed share; ``"planned"`` leaves it to ``join.plan``.
    cpu
        CPU time in cores (0.5 is half a core, 2.0 is two). Streams use wall-clock time; `run` and
        `batch` use the event time that the rows cover. To stay within the budget, arrivals are not
        stored, or do not probe, where that costs the fewest result rows.
    monitor
        The part of the budget for learning how the streams behave and how good the answer is.
        Default: a twentieth where a model must be learned, and on streams, which report recall;
        otherwise nothing. Where rows of both sides wait, AGE takes up to a tenth of a small budget,
        below some 150 kB or 1,200 rows a shard, without which it could not learn. Under "auto",
        memory that the chosen policy does not need for learning goes back to the rows.

    Examples
    --------
    >>> Budget(memory="64 MB")
    Budget(memory="64 MB")
    >>> Budget(rows=100, split=(3, 1)).shares
    (0.75, 0.25)
    >>> print(Budget(cpu=0.5, memory="1 GB"))
    1 GB and 0.5 of a core
    """

    rows: int | None
    memory: int | None
    split: Split
    monitor: float | None
    cpu: float | None

    def __init__(
        self,
        rows: int | None = None,
        memory: str | int | None = None,
        split: Split = "pooled",
        monitor: float | None = None,
        cpu: float | None = None,
    ) -> None:
        if rows is None and memory is None and cpu is None:
            raise SpecError("a budget needs a limit: give rows=, memory=, cpu=, or several")
        if rows is not None and (not isinstance(rows, int) or isinstance(rows, bool) or rows <= 0):
            raise SpecError(f"budget of {rows!r} rows: give a whole number of rows, one or more")
        object.__setattr__(self, "rows", rows)
        parsed = None if memory is None else parse_bytes(memory, "memory budget")
        object.__setattr__(self, "memory", parsed)
        object.__setattr__(self, "split", _parse_split(split))
        if monitor is not None and not (_is_number(monitor) and 0 <= monitor <= MOST_MONITOR):
            raise SpecError(
                f"monitor={monitor!r} is not accepted: give the part of the budget to learn with, "
                f"from 0 (learn nothing) to {MOST_MONITOR}"
            )
        object.__setattr__(self, "monitor", monitor)
        if cpu is not None and not (_is_number(cpu) and 0 < cpu < float("inf")):
            raise SpecError(
                f"cpu={cpu!r} is not accepted: give the part of one core that may be used, such as "
                f"0.5; more than 0, and more than 1 for several cores"
            )
        object.__setattr__(self, "cpu", None if cpu is None else float(cpu))

    @property
    def shares(self) -> tuple[float, float] | None:
        """The fraction of the budget each side has for itself; None when pooled."""
        self.check_settled()
        if isinstance(self.split, str):
            return None
        left, right = self.split
        return left / (left + right), right / (left + right)

    def check_settled(self) -> None:
        """Raise where the split is yet to be planned."""
        if self.split == "planned":
            raise SpecError(
                'split="planned" leaves it to a plan how memory is shared: run '
                "join.plan(profile).join, with what hg.profile(...) found of the streams, or give "
                'split="pooled"'
            )

    @property
    def is_in_bytes(self) -> bool:
        """Whether bytes are what is limited, so that a row counts by its size."""
        return self.memory is not None and self.rows is None

    @property
    def about_rows(self) -> float:
        """About how many rows of typical size fit."""
        by_rows = UNLIMITED if self.rows is None else self.rows
        by_bytes = UNLIMITED if self.memory is None else self.memory / USUAL_ROW_BYTES
        return min(by_rows, by_bytes)

    def __repr__(self) -> str:
        parts = [] if self.rows is None else [f"rows={self.rows:_}"]
        if self.memory is not None:
            text = format_bytes(self.memory)
            told = f'"{text}"' if parse_bytes(text, "") == self.memory else f"{self.memory:_}"
            parts.append(f"memory={told}")
        if self.split != "pooled":
            parts.append(f"split={self.split!r}")
        if self.monitor is not None:
            parts.append(f"monitor={self.monitor!r}")
        if self.cpu is not None:
            parts.append(f"cpu={self.cpu:g}")
        return f"Budget({', '.join(parts)})"

    def __str__(self) -> str:
        parts = [] if self.rows is None else [f"{self.rows:,} rows"]
        if self.memory is not None:
            parts.append(format_bytes(self.memory))
        if self.cpu is not None:
            parts.append(f"{self.cpu:g} of a core" if self.cpu <= 1 else f"{self.cpu:g} cores")
        return " and ".join(parts)


def _is_number(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool)


def _parse_split(split: object) -> Split:
    if split == "pooled":
        return "pooled"
    if split == "planned":
        return "planned"
    if isinstance(split, tuple | list) and len(split) == 2:
        left, right = split
        if (
            all(map(_is_number, split))
            and left >= 0
            and right >= 0
            and 0 < left + right < float("inf")
        ):
            return float(left), float(right)
    raise SpecError(
        f'split {split!r} is not accepted: give "pooled", "planned", or two weights such as '
        f"(3, 1), none negative and not both zero"
    )


AMPLE = Budget(rows=1 << 40)
"""More than any stream here needs."""

"""AGE: keep the rows at the age at which they match most."""

from dataclasses import dataclass
from typing import ClassVar

from headgate.models import AgeCurves
from headgate.policies.base import AgeScore, Piece
from headgate.spec import RowWindow, SpecError, Window


@dataclass(frozen=True)
class Age(AgeScore):
    """Shed the row that can make matches at the slowest rate from now on.

    Below the memory that keeps every row to the best age, rows are kept to that age in turn and
    others refused; above it, every row is kept as long as memory allows. Where the curve falls and
    rises again, rows are shed in the trough and kept at the next rise.

    Parameters
    ----------
    curves
        The age model of both sides.

    Examples
    --------
    >>> from headgate.models import AgeCurve
    >>> Age(AgeCurves(AgeCurve(10, [1, 2]), AgeCurve(10, [1]))).label
    'AGE'

    References
    ----------
    Srivastava and Widom, VLDB 2004, section 3.2.
    """

    curves: AgeCurves

    name: ClassVar[str] = "age"
    model: ClassVar[str] = "ages"

    def __post_init__(self) -> None:
        if not isinstance(self.curves, AgeCurves):
            raise SpecError(f"Age takes an AgeCurves model, not {self.curves!r}")

    def check(self, windows: tuple[Window, Window]) -> None:
        """Ages are times, so windows must be."""
        for window in windows:
            if isinstance(window, RowWindow) and window.rows:
                raise SpecError(
                    f'policy "age" ranks rows by how long they have waited, and a window is '
                    f"{window}: give windows in time, or choose another policy"
                )

    def pieces(self, side: int, window: Window) -> tuple[Piece, ...]:
        """The greedy priority, bucket by bucket; nothing beyond the curve."""
        curve = self.curves[side]
        starts, ends = curve.priorities()
        buckets = [
            Piece(float(bucket * curve.width), float(start), float((end - start) / curve.width))
            for bucket, (start, end) in enumerate(zip(starts, ends, strict=True))
        ]
        return (*buckets, Piece(float(curve.window), 0.0, 0.0))

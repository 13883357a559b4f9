"""Equality on one or more columns: which column of the left equals which of the right."""

from collections.abc import Sequence
from dataclasses import dataclass

from headgate.spec.errors import SpecError

Columns = str | Sequence[str]


@dataclass(frozen=True)
class Keys:
    """The columns on which two rows must agree; null agrees with nothing.

    There may be none, in a join on a band or comparison alone.

    Examples
    --------
    >>> Keys.parse(on="auction")
    Keys(left=('auction',), right=('auction',))
    >>> Keys.parse(left_on=["id", "region"], right_on=["auction", "region"]).shared
    ('region',)
    """

    left: tuple[str, ...]
    right: tuple[str, ...]

    @classmethod
    def parse(
        cls,
        on: Columns | None = None,
        left_on: Columns | None = None,
        right_on: Columns | None = None,
        optional: bool = False,
    ) -> "Keys":
        """Build from the ``on`` or the ``left_on`` and ``right_on`` of a join."""
        if on is not None and (left_on is not None or right_on is not None):
            raise SpecError("give either on= or left_on= and right_on=, not both")
        if on is not None:
            names = _names(on, "on")
            return cls(names, names)
        if optional and left_on is None and right_on is None:
            return cls((), ())
        if left_on is None or right_on is None:
            raise SpecError(
                "a join needs keys: give on=, or both left_on= and right_on=; without keys, "
                "give where=hg.Band(...) or where=hg.Compare(...)"
            )
        left, right = _names(left_on, "left_on"), _names(right_on, "right_on")
        if len(left) != len(right):
            raise SpecError(
                f"left_on names {len(left)} columns and right_on {len(right)}: "
                f"they are compared in pairs, give as many on both sides"
            )
        return cls(left, right)

    @property
    def shared(self) -> tuple[str, ...]:
        """Key columns of the same name on both sides: the result carries them once."""
        return tuple(a for a, b in zip(self.left, self.right, strict=True) if a == b)


def _names(given: Columns, what: str) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise SpecError(f"{what} {given!r} names no columns: give a column name or several")
    if len(set(names)) != len(names):
        raise SpecError(f"{what} {given!r} names a column twice")
    return names

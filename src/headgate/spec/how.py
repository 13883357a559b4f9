"""Which rows a join puts out: the kinds of join, and what becomes of rows that are undecided."""

from enum import IntEnum, StrEnum

from headgate.spec.errors import SpecError

LEFT, RIGHT = 0, 1


class Brings(IntEnum):
    """What a stored row can still bring to the result; the worth that policies go by."""

    PAIRS = 0  # a result row for every partner
    FIRST = 1  # itself, when it meets its first partner; then it leaves
    EITHER = 2  # a row for every partner, or itself if it never has one
    ALONE = 3  # itself, if it has no partner to the end of its window
    NOTHING = 4  # no row of the result; it only tells that others have a partner


class How(StrEnum):
    """A kind of join, as in SQL."""

    INNER = "inner"
    LEFT = "left"
    RIGHT = "right"
    FULL = "full"
    SEMI = "semi"
    ANTI = "anti"

    @property
    def outer(self) -> tuple[bool, bool]:
        """Of which sides rows without a partner are put out.

        Examples
        --------
        >>> How.FULL.outer, How.ANTI.outer
        ((True, True), (True, False))
        """
        left = self in (How.LEFT, How.FULL, How.ANTI)
        return left, self in (How.RIGHT, How.FULL)

    @property
    def nullable(self) -> tuple[bool, bool]:
        """The sides whose columns are null in some of the result rows."""
        left, right = self.outer
        return right, left

    @property
    def frees_left(self) -> bool:
        """Whether a left row that has met one partner needs no other (semi, anti)."""
        return self in (How.SEMI, How.ANTI)

    @property
    def article(self) -> str:
        """The kind with its article, for sentences: "an anti"."""
        return f"an {self}" if self in (How.ANTI, How.INNER) else f"a {self}"

    @property
    def brings(self) -> tuple[Brings, Brings]:
        """What stored rows of each side can bring.

        Examples
        --------
        >>> [brings.name for brings in How.LEFT.brings]
        ['EITHER', 'PAIRS']
        """
        if self == How.SEMI:
            return Brings.FIRST, Brings.PAIRS
        if self == How.ANTI:
            return Brings.ALONE, Brings.NOTHING
        left, right = (Brings.EITHER if outer else Brings.PAIRS for outer in self.outer)
        return left, right

    @property
    def outputs(self) -> tuple[bool, bool]:
        """The sides whose columns the result has."""
        return True, not self.frees_left


class Unmatched(StrEnum):
    """What becomes of rows of which it is not known whether they have a partner."""

    CERTAIN = "certain"
    ALL = "all"


def parse_how(given: object) -> How:
    """The kind of join of this name.

    Examples
    --------
    >>> parse_how("left outer")
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: how='left outer' is not accepted: give "inner", "left", \
"right", "full", "semi" or "anti"
    """
    if isinstance(given, str) and given in list(How):
        return How(given)
    names = [f'"{how}"' for how in How]
    raise SpecError(f"how={given!r} is not accepted: give {', '.join(names[:-1])} or {names[-1]}")


def parse_unmatched(given: object, how: How) -> Unmatched:
    """What is asked of undecided rows; raises where the kind of join has none.

    Examples
    --------
    >>> parse_unmatched("all", How.INNER)
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: unmatched="all" is for joins that return rows without a \
partner: give how="left", "right", "full" or "anti", or leave unmatched out
    """
    if not (isinstance(given, str) and given in list(Unmatched)):
        raise SpecError(
            f'unmatched={given!r} is not accepted: give "certain" (rows are returned as unmatched '
            f'only where that is sure) or "all" (undecided rows too, marked in a column "certain")'
        )
    if Unmatched(given) == Unmatched.ALL and not any(how.outer):
        raise SpecError(
            'unmatched="all" is for joins that return rows without a partner: give how="left", '
            '"right", "full" or "anti", or leave unmatched out'
        )
    return Unmatched(given)

"""The index structures of a window, and pairs of them."""

from enum import StrEnum

from headgate.spec import SpecError


class Structure(StrEnum):
    """The index structure of a window, probed in one join direction.

    Examples
    --------
    >>> Structure.of("T"), Structure("hash").letter
    (<Structure.TTREE: 'ttree'>, 'H')
    """

    SCAN = "scan"
    """Rows in order of arrival, all examined: nested loops."""
    HASH = "hash"
    """Buckets of rows by the hash of their key."""
    BTREE = "btree"
    """A B+tree by key."""
    TTREE = "ttree"
    """A T-tree by key: a balanced binary tree with many rows a node."""
    BITMAP = "bitmap"
    """A bitmap of occupied positions in key order, with summary levels; not in the paper."""

    @property
    def letter(self) -> str:
        """The paper's letter; M for the bitmap, which is not in the paper."""
        return _LETTERS[self]

    @property
    def ordered(self) -> bool:
        """Whether it supports range lookups, as bands and comparisons need."""
        return self in (Structure.BTREE, Structure.TTREE, Structure.BITMAP)

    @classmethod
    def of(cls, given: "str | Structure") -> "Structure":
        """By name or by letter."""
        for structure, letter in _LETTERS.items():
            if given in (structure, letter):
                return structure
        known = ", ".join(f"{letter} ({structure})" for structure, letter in _LETTERS.items())
        raise SpecError(f"{given!r} is not a structure: give one of {known}")


_LETTERS = {
    Structure.SCAN: "N",
    Structure.HASH: "H",
    Structure.BTREE: "B",
    Structure.TTREE: "T",
    Structure.BITMAP: "M",
}

PAPER_STRUCTURES = (Structure.SCAN, Structure.HASH, Structure.BTREE, Structure.TTREE)
"""The four of ICDE'03."""

Pair = tuple[Structure, Structure]
"""The structures over window A and over window B."""


def parse_pair(given: "str | tuple[str | Structure, str | Structure]") -> Pair:
    """A pair from two letters, the paper's way, or from two structures.

    Examples
    --------
    >>> parse_pair("TN")
    (<Structure.TTREE: 'ttree'>, <Structure.SCAN: 'scan'>)
    """
    if len(given) != 2:
        raise SpecError(f"{given!r} is not a pair of structures: give two letters, as in 'TN'")
    return Structure.of(given[0]), Structure.of(given[1])


def pair_letters(pair: Pair) -> str:
    """The pair as the paper writes it.

    Examples
    --------
    >>> pair_letters((Structure.HASH, Structure.TTREE))
    'HT'
    """
    return pair[0].letter + pair[1].letter

"""Choice of the index for each window: the one requested, or the cheapest."""

from collections.abc import Sequence
from math import inf
from typing import Any

from headgate.kernel.probe.index_list import INDEXES
from headgate.kernel.relation import Relation
from headgate.models.cost.calibration import load_calibration
from headgate.models.cost.index_ranking import cheapest
from headgate.models.cost.structure import Pair, Structure
from headgate.spec import RowWindow, SpecError, Window
from headgate.spec.quantity import SECOND_US

Index = str | Structure


def parse_index(given: "Index | Sequence[Index]", keyed: bool = True) -> Pair | None:
    """The indexes requested for the left and the right window; None where the choice is open.

    Examples
    --------
    >>> parse_index("auto")
    >>> parse_index(("hash", "btree"))
    (<Structure.HASH: 'hash'>, <Structure.BTREE: 'btree'>)
    >>> parse_index("rtree")
    Traceback (most recent call last):
    headgate.spec.errors.SpecError: index="rtree" is not accepted: give "auto", one of "scan",
    "hash", "btree", "ttree", "bitmap", or a pair of them for the left and the right window
    """
    if given == "auto":
        return None
    both: Sequence[Any] = given if isinstance(given, tuple | list) else (given, given)
    names = [index.name for index in INDEXES if index.is_offered]
    if len(both) != 2 or any(one not in names for one in both):
        shown = f'"{given}"' if isinstance(given, str) else repr(given)
        accepted = ", ".join(f'"{name}"' for name in names)
        raise SpecError(
            f'index={shown} is not accepted: give "auto", one of {accepted}, or a pair of them '
            f"for the left and the right window"
        )
    left, right = (one if one not in set(Structure) else Structure(one) for one in both)
    if not keyed and Structure.HASH in (left, right):
        raise SpecError(
            'index="hash" needs keys to hash, and this join has none: give on=, or choose '
            '"bitmap", "btree", "ttree" or "scan"'
        )
    return left, right


def chosen_indexes(asked: Pair | None, where: Relation | None) -> Pair:
    """The indexes requested; by default key chains, or the bitmap under a band or comparison.

    Examples
    --------
    >>> chosen_indexes(None, None)
    (<Structure.HASH: 'hash'>, <Structure.HASH: 'hash'>)
    """
    if asked is not None:
        return asked
    usual = Structure.HASH if where is None else Structure.BITMAP
    return usual, usual


def cheapest_indexes(
    windows: tuple[Window, Window],
    rates: tuple[float, float],
    keys: int,
    equality: bool = True,
    most_rows: float = inf,
) -> Pair | None:
    """The cheapest pair of indexes by this machine's calibration; None without a calibration.

    Parameters
    ----------
    windows
        Of both sides.
    rates
        Rows of each side per second.
    keys
        Number of distinct keys; 0 where unknown, which assumes one match per probe.
    equality
        Whether the join condition is key equality alone.
    most_rows
        The most rows that memory allows in a window.
    """
    measured = load_calibration()
    if measured is None or min(rates) <= 0:
        return None
    left, right = (
        min(
            float(window.span) if isinstance(window, RowWindow) else rate * window.span / SECOND_US,
            most_rows,
        )
        for window, rate in zip(windows, rates, strict=True)
    )
    ranked = cheapest(
        rates,
        (left, right),
        measured.weights,
        equality=equality,
        node=measured.node,
        bucket=measured.bucket,
        matches=(left / keys, right / keys) if keys else (1.0, 1.0),
    )
    return ranked.best.pair

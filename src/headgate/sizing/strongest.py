"""The strongest sentence of a what-if answer: the recall that costs least for what it gives."""

from math import ceil, floor, log10
from typing import TYPE_CHECKING, NamedTuple

from headgate.spec.quantity import format_bytes

if TYPE_CHECKING:
    from headgate.sizing.what_if import WhatIf

DIGITS = 3
"""Of sizes in reports; already more than an estimate's precision."""


class SizingClaim(NamedTuple):
    """A recall, the policy that reaches it with the least memory, and that memory, rounded up."""

    recall: float
    policy: str
    rows: int
    bytes: int
    share: float
    """Of the bytes that the exact join holds."""


def strongest(found: "WhatIf", targets: tuple[float, ...]) -> SizingClaim | None:
    """The recall that is furthest above its share of the memory; None if no target is reached."""
    claims = []
    for target in targets:
        policy = found.cheapest(target)
        memory = None if policy is None else found.memory_for(target, policy)
        if policy is None or memory is None or not found.needs.bytes:
            continue
        rows, size = rounded_up(memory.rows), rounded_up(memory.bytes)
        claims.append(SizingClaim(target, policy, rows, size, size / found.needs.bytes))
    return max(claims, key=lambda claim: claim.recall - claim.share, default=None)


def rounded_up(number: float) -> int:
    """The next number of three digits and zeros, so that what is told is enough.

    Examples
    --------
    >>> rounded_up(1_641), rounded_up(1_640), rounded_up(95), rounded_up(0.2)
    (1650, 1640, 95, 1)
    """
    if number <= 0:
        return 0
    step = int(10 ** max(floor(log10(number)) - DIGITS + 1, 0))
    return ceil(number / step - 1e-9) * step


def size_text(size: float) -> str:
    """Bytes, rounded up to three digits.

    Examples
    --------
    >>> size_text(216_601)
    '217 kB'
    """
    return format_bytes(rounded_up(size))


def percent(share: float) -> str:
    """A share in percent, to two digits; never rounded to all or nothing.

    Examples
    --------
    >>> percent(0.2949), percent(0.9), percent(0.004), percent(1.2), percent(0.999)
    ('29 %', '90 %', '0.4 %', '120 %', '99.9 %')
    """
    if share >= 0.995 and share < 1:
        return f"{100 * share:.3g} %"
    return f"{float(f'{100 * share:.2g}'):g} %"

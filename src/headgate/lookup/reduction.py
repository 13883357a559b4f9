"""Reduces caching to joining: builds two streams whose join has one row per cache hit.

The i-th reference to v becomes (v, i - 1), its supply (v, i). A supply then matches exactly one
reference, the next one to v, if it is still stored by then.
"""

from collections import Counter
from collections.abc import Hashable, Sequence

Numbered = list[tuple[Hashable, int]]


def as_streams(references: Sequence[Hashable]) -> tuple[Numbered, Numbered]:
    """Build references and supplies, numbered by how often their key has occurred.

    Examples
    --------
    >>> references, supplies = as_streams("abaca")
    >>> references
    [('a', 0), ('b', 0), ('a', 1), ('c', 0), ('a', 2)]
    >>> supplies
    [('a', 1), ('b', 1), ('a', 2), ('c', 1), ('a', 3)]

    References
    ----------
    Xie, Yang, Chen, "On Joining and Caching Stochastic Streams", SIGMOD 2005, section 3.1.
    """
    seen: Counter[Hashable] = Counter()
    numbered: Numbered = []
    for key in references:
        numbered.append((key, seen[key]))
        seen[key] += 1
    return numbered, [(key, count + 1) for key, count in numbered]

"""Which structure each window is kept in, where the user leaves that open."""

from headgate.engine.relation import Relation
from headgate.spec.index import Index, Indexes


def chosen_indexes(asked: Indexes | None, where: Relation | None) -> Indexes:
    """What is asked for; else chains of keys, or the ordered index under a band or comparison.

    Examples
    --------
    >>> chosen_indexes(None, None)
    (<Index.HASH: 1>, <Index.HASH: 1>)
    """
    if asked is not None:
        return asked
    usual = Index.HASH if where is None else Index.BITMAP
    return usual, usual

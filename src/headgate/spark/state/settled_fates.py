"""Packs what is known of the partners of stored rows: two bits a row."""

import numpy as np

from headgate.kernel.layout import Fate

BITS = (Fate.MATCHED, Fate.DOUBTFUL)


def pack_fates(fate: np.ndarray | None) -> bytes | None:
    """Two bits a row; None for an inner join.

    Examples
    --------
    >>> unpack_fates(pack_fates(np.array([1, 0, 3], np.uint8)), 3).tolist()
    [1, 0, 3]
    """
    if fate is None:
        return None
    return np.packbits(np.stack([fate & bit != 0 for bit in BITS])).tobytes()


def unpack_fates(packed: bytes | None, rows: int) -> np.ndarray | None:
    """The fates of so many rows; None where none were kept."""
    if packed is None:
        return None
    bits = np.unpackbits(np.frombuffer(packed, np.uint8), count=2 * rows).reshape(2, rows)
    fates: np.ndarray = (bits[0] * BITS[0] + bits[1] * BITS[1]).astype(np.uint8)
    return fates

"""The list of all indexes. To add one, write its file and add a line here."""

from headgate.kernel.probe.bitmap import Bitmap
from headgate.kernel.probe.btree import BTreeIndex
from headgate.kernel.probe.buckets import HashIndex
from headgate.kernel.probe.chains import Chains
from headgate.kernel.probe.index import Index
from headgate.kernel.probe.scan import ScanIndex
from headgate.kernel.probe.ttree import TTreeIndex

INDEXES: tuple[type[Index], ...] = (
    ScanIndex,
    HashIndex,
    BTreeIndex,
    TTreeIndex,
    Bitmap,
    Chains,
)
"""Compiled code identifies an index by its place in this list."""


def number_of(name: str) -> int:
    """The place of the index of that name.

    Examples
    --------
    >>> number_of("scan")
    0
    """
    return [index.name for index in INDEXES].index(name)

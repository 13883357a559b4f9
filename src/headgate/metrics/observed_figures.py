"""Observed metrics by name, whatever form a report has them in."""

from collections.abc import Mapping
from typing import Any


def by_name(observed: Mapping[str, Any]) -> dict[str, Any]:
    """Figures by name.

    A classic session gives a field a metric. A client of Connect gives the values and their schema
    as two fields, which the documentation does not mention.

    Examples
    --------
    >>> by_name({"values": [7], "schema": {"fields": [{"name": "pairs"}]}})
    {'pairs': 7}
    >>> by_name({"pairs": 7})
    {'pairs': 7}
    """
    if set(observed) != {"values", "schema"}:
        return dict(observed)
    names = [field["name"] for field in observed["schema"]["fields"]]
    return dict(zip(names, observed["values"], strict=True))

"""Finds the columns of a source, as far as possible without Spark."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

_COLUMN = re.compile(r"\s*(?:`((?:[^`]|``)+)`|(\w+))\s*[:\s]")


def columns_of_schema(schema: str) -> frozenset[str] | None:
    """The column names in a Spark DDL schema; None if the text does not look like one.

    Examples
    --------
    >>> sorted(columns_of_schema("id long, `paid at` timestamp, rest struct<a: int, b: int>"))
    ['id', 'paid at', 'rest']
    >>> columns_of_schema('{"type": "struct"}') is None
    True
    """
    names = set()
    for part in _outermost_parts(schema):
        found = _COLUMN.match(part)
        if found is None:
            return None
        names.add(found.group(2) or found.group(1).replace("``", "`"))
    return frozenset(names)


def columns_of_parquet(path: Path) -> frozenset[str] | None:
    """The columns of a Parquet file, or of the first one in a folder; None if unknown."""
    if path.is_dir():
        inside = sorted(path.rglob("*.parquet"))
        # Folders named name=value are partition columns, which Spark adds.
        if not inside or any("=" in part for part in inside[0].relative_to(path).parts):
            return None
        path = inside[0]
    try:
        return frozenset(pq.read_schema(path).names)
    except (OSError, pa.ArrowInvalid):
        return None


def _outermost_parts(schema: str) -> list[str]:
    """Split a text at the commas outside brackets and quotes."""
    parts, depth, quoted, current = [], 0, False, ""
    for char in schema:
        quoted ^= char == "`"
        if not quoted:
            depth += (char in "<(") - (char in ">)")
        if char == "," and not quoted and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += char
    return [*parts, current]

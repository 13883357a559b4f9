"""Which columns a source has, as far as that can be told before Spark is there."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

_COLUMN = re.compile(r"\s*(?:`((?:[^`]|``)+)`|(\w+))\s*[:\s]")


def columns_of_schema(schema: str) -> frozenset[str] | None:
    """The names in a schema as Spark writes one; None where it is no such thing to the eye.

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
    """The columns of a Parquet file, or of the first in a folder of them; None where unknown."""
    if path.is_dir():
        inside = sorted(path.rglob("*.parquet"))
        # Folders called name=value are columns as well, and Spark adds them.
        if not inside or any("=" in part for part in inside[0].relative_to(path).parts):
            return None
        path = inside[0]
    try:
        return frozenset(pq.read_schema(path).names)
    except (OSError, pa.ArrowInvalid):
        return None


def _outermost_parts(schema: str) -> list[str]:
    """The text between commas that stand in no brackets and no quotes."""
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

"""Parses table names as users write them, and quotes them for SQL."""

import re

from headgate.spec import SpecError

_PART = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^".\s]+))\s*')


def table_name(given: object) -> tuple[str, ...]:
    """Split a name into its parts: table, schema.table, or database.schema.table.

    A part that contains a dot needs double quotes. Names are case-sensitive.

    Examples
    --------
    >>> table_name("public.readings")
    ('public', 'readings')
    >>> table_name('plant."sensor.readings"')
    ('plant', 'sensor.readings')
    """
    parts: list[str] = []
    at = 0
    text = given if isinstance(given, str) else ""
    while match := _PART.match(text, at):
        parts.append((match.group(1) or "").replace('""', '"') or match.group(2))
        at = match.end()
        if at == len(text):
            if len(parts) <= 3:
                return tuple(parts)
            break
        if text[at] != ".":
            break
        at += 1
    raise SpecError(
        f'table {given!r} is not a table\'s name: give "table" or "schema.table", with double '
        f"quotes around a part that has a dot or a space in it"
    )


def quoted(parts: "tuple[str, ...] | str") -> str:
    """Quote a name with double quotes, as in standard SQL.

    Examples
    --------
    >>> quoted(("plant", 'odd"name'))
    '"plant"."odd""name"'
    """
    parts = (parts,) if isinstance(parts, str) else parts
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)

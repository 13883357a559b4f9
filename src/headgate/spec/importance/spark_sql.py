"""Translates Spark SQL expressions to DuckDB: same value for each row, null where Spark has null.

Imports sqlglot, so it is itself imported where an expression is first met. sqlglot knows both
dialects' grammars and most of the functions; what it leaves different is mended here, and what
it does not know is refused rather than passed on to a namesake that may do something else.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, ParseError, SqlglotError

from headgate.spec.bounded_json import shortened
from headgate.spec.errors import SpecError
from headgate.spec.importance.bounds import check_depth, check_growth, check_nesting, check_size

Node = Any
"""A node of sqlglot's tree; the name of its class is not the same in all versions."""

WHOLE = {"TINYINT", "SMALLINT", "INT", "BIGINT"}
NUMERIC = {*WHOLE, "FLOAT", "DOUBLE", "DECIMAL"}

_CAST_TO_WHOLE = "TRUNC(TRY_CAST(x AS DECIMAL(38, 10)))"
"""Spark cuts fractions off where DuckDB rounds; through a decimal, as a double is not exact."""

_ENDS_WELL = "CASE WHEN (LENGTH(pattern) - LENGTH(RTRIM(pattern, escape))) % 2 = 0 THEN x END"

_SPARKS_FORMAT = "%Y-%m-%d %H:%M:%S"

MENDED = {
    "Div": "x / NULLIF(y, 0)",
    "SafeDivide": "x / NULLIF(y, 0)",
    "IntDiv": "TRUNC(x // NULLIF(y, 0))",
    "Mod": "x % NULLIF(y, 0)",
    "Ln": "CASE WHEN x > 0 THEN LN(x) END",
    "Log": "CASE WHEN x > 0 AND y > 0 THEN LN(y) / LN(x) END",
    "DayOfWeek": "DAYOFWEEK(TRY_CAST(x AS DATE)) + 1",
    "UnixSeconds": "FLOOR(EPOCH(x))",
    "TimestampDiff": "DATE_SUB('unit', TRY_CAST(y AS TIMESTAMP), TRY_CAST(x AS TIMESTAMP))",
}
"""What sqlglot, in some version, translates to something else: with x and y for the operands."""

ADDED = {
    "expm1": "EXP(x) - 1",
    "isnotnull": "x IS NOT NULL",
    "isnull": "x IS NULL",
    "log1p": "CASE WHEN x > -1 THEN LN(1 + x) END",
    "hypot": "SQRT(POWER(x, 2) + POWER(y, 2))",
    "pmod": "CASE WHEN x % NULLIF(y, 0) < 0 THEN (x % NULLIF(y, 0) + y) % NULLIF(y, 0) "
    "ELSE x % NULLIF(y, 0) END",
    "weekday": "ISODOW(TRY_CAST(x AS DATE)) - 1",
    "try_divide": "x / NULLIF(y, 0)",
    "zeroifnull": "COALESCE(x, 0)",
}
"""Spark's functions that sqlglot does not know."""

EXTRACTED = {
    "DAYOFWEEK": "DAYOFWEEK(x) + 1",
    "DOW": "DAYOFWEEK(x) + 1",
    "DAYOFWEEKISO": "ISODOW(x)",
    "DAYOFWEEK_ISO": "ISODOW(x)",
    "DOW_ISO": "ISODOW(x)",
    "SECOND": "EXTRACT(MICROSECONDS FROM x) / 1000000",
}
"""Parts of a time that DuckDB counts differently."""

CASTS = ("bigint", "smallint", "tinyint", "decimal")
"""Functions named like the type they cast to that sqlglot does not know."""

REFUSED = (
    ("Window", "a window function"),
    ("Query", "a subquery"),
    ("AggFunc", "an aggregate"),
    ("Star", "all columns at once"),
    ("Explode", "a function that makes several rows of one"),
    ("Posexplode", "a function that makes several rows of one"),
    ("Unnest", "a function that makes several rows of one"),
    ("Placeholder", "a parameter"),
    ("Parameter", "a parameter"),
)
UNLIKE = ("AtTimeZone", "FromTimeZone", "Levenshtein", "MonthsBetween")
"""What DuckDB has under the same name, and computes differently."""

CHANGING = ("Rand", "Randn", "Uuid", "Localtime", "Localtimestamp")


class Translation(NamedTuple):
    """An expression in DuckDB's SQL, over columns c0, c1 and so on."""

    sql: str
    columns: tuple[str, ...]
    """The names of c0, c1, ... in the table."""
    counted: tuple[tuple[str, str], ...]
    """What is cast to a number, in DuckDB's SQL and as the user wrote it: it may not be a time."""


@lru_cache(maxsize=256)
def translate(sql: str) -> Translation:
    """A Spark SQL expression in DuckDB's SQL.

    Examples
    --------
    >>> translate("price / `how many`")
    Translation(sql='((("c0") / NULLIF(("c1"), 0)))', columns=('price', 'how many'), counted=())
    """
    try:
        return _translated(sql)
    except RecursionError as error:
        # Rarely reached: expressions known to be too deep were refused before.
        raise SpecError(
            f"importance {shortened(sql)} is too deep to be read: add a column with the "
            f"expression to the stream, and name that column"
        ) from error


def _translated(sql: str) -> Translation:
    check_nesting(sql)
    parsed = _parsed(sql)
    check_depth(parsed, sql)
    _refuse(parsed, sql)
    check_growth(parsed, sql)
    root = exp.paren(parsed, copy=False)  # so that what is replaced is always inside something
    _name_casts(root)
    casts = [node for node in root.find_all(exp.Cast) if node.to.this.name in NUMERIC]
    written = [node.this.sql("spark") for node in casts]
    columns = _numbered(root)
    if not columns:
        raise SpecError(
            f"importance {sql!r} reads no column, so all rows would be equally important: name a "
            f"column, or give the number itself"
        )
    counted = [_as_duckdb(_mended(exp.paren(node.this.copy())), sql) for node in casts]
    whole = _as_duckdb(_mended(root), sql)
    return Translation(whole, columns, tuple(zip(counted, written, strict=True)))


def _parsed(sql: str) -> Node:
    try:
        found = [tree for tree in sqlglot.parse(sql, read="spark") if tree is not None]
    except SqlglotError as error:
        raise SpecError(
            f"importance {sql!r} is not a Spark SQL expression: {_reason(error)}"
        ) from error
    if len(found) != 1:
        raise SpecError(f"importance {sql!r} is {len(found)} statements: give one expression")
    return found[0]


def _reason(error: SqlglotError) -> str:
    if isinstance(error, ParseError) and error.errors:
        first = error.errors[0]
        return f"{str(first['description']).rstrip('.')} (at character {first['col']})"
    return str(error)


def _refuse(root: Node, sql: str) -> None:
    """Raise for anything that is not a deterministic function of one row."""
    for name, what in REFUSED:
        if node := root.find(getattr(exp, name)):
            raise SpecError(
                f"importance {sql!r} has {what} ({node.sql('spark')}): give an expression over "
                f"the columns of one row"
            )
    if isinstance(root, exp.Alias | exp.Aliases):
        raise SpecError(
            f"importance {sql!r} names its result: leave the name out, and put a column name "
            f"with a space in it in backquotes"
        )
    if not isinstance(root, exp.Condition):
        raise SpecError(
            f"importance {sql!r} is not an expression but a {type(root).__name__.upper()} "
            f"statement: give an expression over the columns of one row"
        )
    for node in root.walk():
        kind = type(node).__name__
        unknown = isinstance(node, exp.Anonymous) and _name_of(node) not in (*ADDED, *CASTS)
        if kind in CHANGING or kind.startswith("Current") or _name_of(node) == "now":
            raise SpecError(
                f"importance {sql!r} changes every time it is computed "
                f"({node.sql('spark')}), and rows are evaluated again after a restart: use what is "
                f"in the row"
            )
        if _name_of(node) in ADDED:
            wanted = 1 + ("y" in ADDED[node.name.lower()])
            if len(node.expressions) != wanted:
                raise SpecError(
                    f"importance {sql!r} has {node.sql('spark')}: {node.name}() takes {wanted}"
                )
        if unknown or kind in UNLIKE:
            raise SpecError(
                f"importance {sql!r} has {node.sql('spark')}, which cannot be computed outside "
                f"Spark: add a column with the expression to the stream, and name that column"
            )


def _name_of(node: Node) -> str | None:
    return node.name.lower() if isinstance(node, exp.Anonymous) else None


def _name_casts(root: Node) -> None:
    """Casts that are written as functions made casts, in place."""
    for node in list(root.find_all(exp.Anonymous)):
        if _name_of(node) in CASTS and len(node.expressions) == 1:
            kind = exp.DataType.build(node.name, dialect="spark")
            node.replace(exp.Cast(this=node.expressions[0].copy(), to=kind))


def _numbered(root: Node) -> tuple[str, ...]:
    """Columns renamed c0, c1, ... in place, so that no name can mean anything else in DuckDB."""
    numbers: dict[str, int] = {}
    for node in list(root.find_all(exp.Column)):
        first, *fields = node.parts
        number = numbers.setdefault(first.name, len(numbers))
        column = exp.column(exp.to_identifier(f"c{number}", quoted=True))
        # What looks like table.column is a field of a struct: a row has no tables.
        node.replace(exp.Dot.build([column, *fields]) if fields else column)
    return tuple(numbers)


def _mended(node: Node) -> Node:
    """The tree, with what sqlglot would mistranslate rewritten for DuckDB."""
    for child in list(node.iter_expressions()):
        mended = _mended(child)
        if mended is not child:
            child.replace(mended)
    kind, name = type(node).__name__, _name_of(node)
    if isinstance(node, exp.Cast):  # and TryCast, which is one
        inner = node.this
        if node.to.this.name in WHOLE:
            inner = _filled(_CAST_TO_WHOLE, x=inner)
        to = node.to.copy()
        if to.this.name == "DECIMAL" and not to.expressions:
            to = exp.DataType.build("DECIMAL(10, 0)", dialect="spark")
        return exp.TryCast(this=inner.copy(), to=to)
    if name in ADDED:
        return _filled(ADDED[name], **dict(zip("xy", node.expressions, strict=False)))
    if special := SPECIAL.get(kind):
        return special(node)
    if kind in MENDED and node.args.get("expression") is None:
        return _filled(MENDED[kind], x=node.this)
    if kind in MENDED:
        return _filled(MENDED[kind], x=node.this, y=node.expression, unit=node.args.get("unit"))
    return node


def _date_diff(node: Node) -> Node:
    """``datediff(end, start)`` counts days; with a unit, whole units that have passed."""
    if node.args.get("unit") is None:
        return node
    # sqlglot cuts both to dates, which is right for days alone.
    end, start = (
        part.this if isinstance(part, exp.TsOrDsToDate) else part
        for part in (node.this, node.expression)
    )
    return _filled(MENDED["TimestampDiff"], x=end, y=start, unit=node.args["unit"])


def _unix_time(node: Node) -> Node:
    """``unix_timestamp`` of a timestamp, or of text in the format that Spark takes unasked."""
    given = node.args.get("format")
    if given is not None and given.name.replace("strict", "") != _SPARKS_FORMAT:
        raise SpecError(
            f"importance has {node.sql('spark')}, whose format cannot be read outside Spark: "
            f"add a column with the time to the stream, and name that column"
        )
    return _filled("FLOOR(EPOCH(TRY_CAST(x AS TIMESTAMPTZ)))", x=node.this)


def _substring(node: Node) -> Node:
    """The first character has number 1, and in Spark 0 as well."""
    start = node.args.get("start")
    if isinstance(start, exp.Literal) and start.name == "0":
        node.set("start", exp.Literal.number(1))
    return node


def _extract(node: Node) -> Node:
    template = EXTRACTED.get(node.name.upper())
    return node if template is None else _filled(template, x=node.expression)


def _like(node: Node) -> Node:
    """A backslash takes the meaning from % and _ unless another character is said to."""
    if isinstance(node.parent, exp.Escape):
        return node
    return _escaped(exp.Escape(this=node.copy(), expression=exp.Literal.string("\\")))


def _escaped(node: Node) -> Node:
    """A pattern must not end in its escape character: refused if written so, null in a column.

    Nothing else in an expression raises an error in DuckDB that TRY does not turn into null.
    """
    like, escape = node.this, node.expression
    pattern = like.expression
    character = escape.name if isinstance(escape, exp.Literal) and escape.is_string else ""
    if isinstance(pattern, exp.Any | exp.All):
        raise SpecError(
            f"importance has {node.sql('spark')}, which is not computed outside Spark: write one "
            f"LIKE after the other, with OR or AND between them"
        )
    if len(character) != 1:
        raise SpecError(
            f"importance has {node.sql('spark')}: the escape of LIKE is one character, in quotes"
        )
    if not (isinstance(pattern, exp.Literal) and pattern.is_string):
        return _filled(_ENDS_WELL, x=node, pattern=pattern, escape=escape)
    text = pattern.name
    if (len(text) - len(text.rstrip(character))) % 2:
        raise SpecError(
            f"importance has {node.sql('spark')}, whose pattern ends in its escape character: "
            f"write that twice for the character itself"
        )
    return node if character in text else like


SPECIAL: dict[str, Callable[[Node], Node]] = {
    "DateDiff": _date_diff,
    "Escape": _escaped,
    "Extract": _extract,
    "ILike": _like,
    "Like": _like,
    "StrToUnix": _unix_time,
    "Substring": _substring,
}


def _filled(template: str, unit: Node | None = None, **operands: Node) -> Node:
    """A template with operands in it."""
    if unit is not None:
        template = template.replace("unit", unit.name)
    tree = sqlglot.parse_one(template, read="duckdb")
    columns = list(tree.find_all(exp.Column))
    check_size([operands[column.name] for column in columns])
    for column in columns:
        column.replace(exp.paren(operands[column.name].copy(), copy=False))
    return exp.paren(tree, copy=False)


def _as_duckdb(root: Node, sql: str) -> str:
    try:
        return str(root.sql("duckdb", unsupported_level=ErrorLevel.RAISE))
    except SqlglotError as error:
        raise SpecError(
            f"importance {sql!r} cannot be computed outside Spark ({error}): add a column with "
            f"the expression to the stream, and name that column"
        ) from error

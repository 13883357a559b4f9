"""Rejects expressions that would take too long or too much memory, before they run.

A parser recurses as deep as its input, and Python stops at a thousand nested calls: an expression
from someone else's file must not crash the query that reads it. Imports sqlglot, as `spark_sql`.
"""

from typing import Any

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from headgate.spec.bounded_json import shortened
from headgate.spec.errors import SpecError

MOST_OPEN = 20
"""Brackets and CASEs inside one another, and signs in a row; a parser makes some sixteen calls for
each."""
MOST_LEVELS = 200
"""Of operators: a sum of two hundred terms has as many."""
MOST_NODES = 20_000
"""Operators, columns and numbers of an expression in DuckDB's terms."""
LONGEST_MADE = 1000
"""Characters that a function may add to a text."""

_OPENS = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
_CLOSES = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
_SIGNS = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}
_TIDY = "add a column with the expression to the stream, and name that column"


def check_nesting(sql: str) -> None:
    """Raise where brackets or CASEs are too deep, or too many signs follow each other.

    Examples
    --------
    >>> check_nesting("((price)) * 2")
    >>> check_nesting("(" * 30 + "price" + ")" * 30)
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: importance '((((((((((((((((((((((((((((((price))))))))))))\
))))))))))))))))))' is more than 20 levels deep: add a column with the expression to the stream, \
and name that column
    """
    try:
        tokens = sqlglot.tokenize(sql, read="spark")
    except SqlglotError as error:
        raise SpecError(
            f"importance {shortened(sql)} is not a Spark SQL expression: {error}"
        ) from error
    deep = signs = 0
    for token in tokens:
        kind = token.token_type
        signs = signs + 1 if kind in _SIGNS else 0
        deep += (kind in _OPENS) - (kind in _CLOSES and deep > 0)
        if deep + signs > MOST_OPEN:
            raise _too_deep(sql, MOST_OPEN)


def check_depth(root: Any, sql: str) -> None:
    """Raise where operators are nested too deeply; ``root`` is sqlglot's tree."""
    level = [root]
    for _ in range(MOST_LEVELS):
        level = [child for node in level for child in node.iter_expressions()]
        if not level:
            return
    raise _too_deep(sql, MOST_LEVELS)


def check_size(operands: list[Any]) -> None:
    """Raise where nested functions, whose operands are repeated, translate to too much SQL."""
    if sum(1 for operand in operands for _ in operand.walk()) > MOST_NODES:
        raise SpecError(
            f"importance has functions inside one another that take more than {MOST_NODES:,} "
            f"operations to compute: {_TIDY}"
        )


def check_growth(root: Any, sql: str) -> None:
    """Raise for functions that make long texts or lists from short ones, which take memory."""
    for node in root.walk():
        kind = type(node).__name__
        if kind in ("Repeat", "Space", "Pad", "GenerateSeries", "Format"):
            if _is_short(node, kind):
                continue
        elif kind not in ("Replace", "RegexpReplace") or _is_tame(node):
            continue
        raise SpecError(
            f"importance {shortened(sql)} has {node.sql('spark')}, which may make a text or a list "
            f"of any length: {_TIDY}"
        )


def _is_short(node: Any, kind: str) -> bool:
    """Whether the call itself limits the result to a short text."""
    length = {"Repeat": node.args.get("times"), "Space": node.this, "Pad": node.expression}
    given = length.get(kind)
    number = given.name if isinstance(given, exp.Literal) and not given.is_string else ""
    return number.isdecimal() and len(number) <= 4 and int(number) <= LONGEST_MADE


def _is_tame(node: Any) -> bool:
    """Whether a replacement is a literal, and not applied to another replacement's result."""
    made = node.args.get("replacement")
    if made is not None and not (isinstance(made, exp.Literal) and len(made.name) <= LONGEST_MADE):
        return False
    return not any(isinstance(outer, exp.Replace | exp.RegexpReplace) for outer in _ancestors(node))


def _ancestors(node: Any) -> list[Any]:
    found = []
    while node.parent is not None:
        node = node.parent
        found.append(node)
    return found


def _too_deep(sql: str, most: int) -> SpecError:
    return SpecError(f"importance {shortened(sql)} is more than {most} levels deep: {_TIDY}")

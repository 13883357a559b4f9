"""Reads untrusted JSON: size, depth and numbers are bounded before it is parsed.

Parsers recurse as deep as their input, so deeply nested text could crash the program; so could
computing with a number too large for any column.
"""

import json
import math
import re
from typing import Any

from headgate.spec.errors import SpecError

MOST_DIGITS = 100
"""Of a whole number; no column holds more than 76."""
SHOWN = 80
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)


def read_json(text: str, what: str, longest: int, deepest: int) -> Any:
    """What a JSON text says, as ``json.loads`` gives it, or a `SpecError` that says what is wrong.

    Parameters
    ----------
    text
        The text.
    what
        What it is to be, for the message.
    longest
        How many characters it may have.
    deepest
        How many lists and objects may be inside one another.

    Examples
    --------
    >>> read_json('{"a": [1, 2.5]}', "a list", longest=100, deepest=2)
    {'a': [1, 2.5]}
    >>> read_json("[[[1]]]", "a list", longest=100, deepest=2)
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: '[[[1]]]' is not a list: its lists and objects are more than 2 \
deep
    """
    if not isinstance(text, str):
        raise SpecError(f"{shortened(text)} is not {what}: give JSON as text")
    if len(text) > longest:
        raise SpecError(
            f"{shortened(text)} is not {what}: it has {len(text):,} characters, and at most "
            f"{longest:,} are read"
        )
    if _deeper_than(text, deepest):
        raise SpecError(
            f"{shortened(text)} is not {what}: its lists and objects are more than {deepest} deep"
        )
    try:
        given = json.loads(
            text, parse_int=_whole, parse_float=_finite, parse_constant=_refuse_constant
        )
        # A lone surrogate is valid in JSON text, but nowhere else.
        json.dumps(given, ensure_ascii=False).encode()
    except ValueError as error:
        raise SpecError(f"{shortened(text)} is not {what}: {error}") from error
    return given


def shortened(given: object) -> str:
    """The given value, shortened for error messages.

    Examples
    --------
    >>> shortened("x" * 1000) == repr("x" * 80)[:80] + "..."
    True
    """
    if isinstance(given, str | bytes):
        given = given[: SHOWN + 1]
    shown = repr(given)
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."


def _deeper_than(text: str, deepest: int) -> bool:
    depth = 0
    for token in _TOKEN.finditer(text):
        if token.group() in ("[", "{"):
            depth += 1
            if depth > deepest:
                return True
        elif token.group() in ("]", "}"):
            depth -= 1
    return False


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a number has {len(text):,} digits, and at most {MOST_DIGITS} are read")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"number {shortened(text)} is too large")
    return number


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not a number")

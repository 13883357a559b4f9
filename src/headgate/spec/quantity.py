"""Durations and memory sizes as people write them: "10 minutes", "64 MB"."""

import re
from datetime import timedelta

from headgate.spec.errors import SpecError

MICROSECONDS = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}
SECOND_US = MICROSECONDS["second"]
BYTES = {
    "b": 1,
    "kb": 1_000,
    "mb": 1_000_000,
    "gb": 1_000_000_000,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
}
LONGEST_DURATION_US = 1 << 60
"""Times and windows are added in 64-bit microseconds; this bound keeps every sum in range."""

_DURATION_PART = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]+)\s*,?")
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]+)\s*")
_SUGGESTIONS = {
    "us": "microseconds",
    "ms": "milliseconds",
    "s": "seconds",
    "sec": "seconds",
    "secs": "seconds",
    "m": "minutes",
    "min": "minutes",
    "mins": "minutes",
    "h": "hours",
    "hr": "hours",
    "hrs": "hours",
    "d": "days",
    "w": "weeks",
}


def parse_duration_us(given: str | timedelta, what: str) -> int:
    """Microseconds of a duration such as ``"1 hour 30 minutes"`` or a `datetime.timedelta`.

    Examples
    --------
    >>> parse_duration_us("1 hour 30 minutes", "window")
    5400000000
    >>> parse_duration_us("10 mins", "window")
    Traceback (most recent call last):
    ...
    headgate.spec.errors.SpecError: window "10 mins" is not a duration: write "10 minutes"
    """
    if isinstance(given, timedelta):
        micros = given // timedelta(microseconds=1)
        return _checked_duration(micros, str(given), what)
    if not isinstance(given, str):
        raise SpecError(
            f"{what} {given!r} is not a duration: give a text such as "
            f'"10 minutes" or a datetime.timedelta'
        )
    if given.strip().startswith("-"):
        raise SpecError(f'{what} "{given}" is negative: a window reaches back zero or more')
    total, end = 0.0, 0
    for part in _DURATION_PART.finditer(given):
        unit = part.group(2).lower()
        micros_per_unit = MICROSECONDS.get(unit.removesuffix("s") if len(unit) > 1 else unit)
        if part.start() != end or micros_per_unit is None:
            break
        total += float(part.group(1)) * micros_per_unit
        end = part.end()
    if end != len(given) or not given.strip():
        raise SpecError(f'{what} "{given}" is not a duration: {_duration_hint(given)}')
    return _checked_duration(round(total), given, what)


def _checked_duration(micros: int, given: str, what: str) -> int:
    if micros < 0:
        raise SpecError(f'{what} "{given}" is negative: a window reaches back zero or more')
    if micros > LONGEST_DURATION_US:
        raise SpecError(f'{what} "{given}" is too long: at most 36,000 years')
    return micros


def _duration_hint(given: str) -> str:
    match = _DURATION_PART.fullmatch(given)
    if match and match.group(2).lower() in _SUGGESTIONS:
        return f'write "{match.group(1)} {_SUGGESTIONS[match.group(2).lower()]}"'
    units = ", ".join(f"{unit}s" for unit in MICROSECONDS)
    return f'write a number and a unit, such as "10 minutes" (units: {units})'


def parse_bytes(given: str | int, what: str) -> int:
    """Bytes of a size such as ``"64 MB"`` (powers of ten) or ``"64 MiB"`` (powers of two).

    Examples
    --------
    >>> parse_bytes("64 MB", "memory"), parse_bytes("1 KiB", "memory")
    (64000000, 1024)
    """
    if isinstance(given, int) and not isinstance(given, bool):
        size = given
    else:
        match = _SIZE.fullmatch(given) if isinstance(given, str) else None
        unit = BYTES.get(match.group(2).lower()) if match else None
        if match is None or unit is None:
            raise SpecError(
                f"{what} {given!r} is not a size: write a number and a unit, such as "
                f'"64 MB" or "1 GiB", or a whole number of bytes'
            )
        size = round(float(match.group(1)) * unit)
    if size <= 0:
        raise SpecError(f"{what} {given!r} leaves nothing to store rows in: give more than zero")
    return size


def format_bytes(size: float) -> str:
    """A size for people: three digits and a unit.

    Examples
    --------
    >>> format_bytes(64_000_000)
    '64 MB'
    """
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size:.0f} B"


def format_duration(micros: int) -> str:
    """A duration for people, in the largest unit that divides it.

    Examples
    --------
    >>> format_duration(5_400_000_000)
    '90 minutes'
    """
    for unit, scale in reversed(MICROSECONDS.items()):
        if micros >= scale and micros % scale == 0:
            count = micros // scale
            return f"{count:,} {unit}" + ("" if count == 1 else "s")
    return "0 seconds"

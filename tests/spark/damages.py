"""Damage done to a shard's state, blob by blob: cut, altered, missing, swapped, of another time."""

import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tests.golden.shard_states import MAPS

State = dict[str, Any]
Bytes = Callable[[bytes], bytes]


class Damage(NamedTuple):
    """One injection: where, how, and what it leaves."""

    where: str
    how: str
    state: State


def _flipped(part: float) -> Bytes:
    def change(blob: bytes) -> bytes:
        place = min(int(part * len(blob)), len(blob) - 1)
        return blob[:place] + bytes([blob[place] ^ 0x10]) + blob[place + 1 :]

    return change


def _cut(part: float) -> Bytes:
    return lambda blob: blob[: int(part * len(blob))]


FLIPPED_AT = (0.0, 0.001, 0.02, 0.1, 0.25, 0.4, 0.6, 0.8, 0.95, 1.0)
ALTERED: dict[str, Bytes] = {
    **{f"a bit is another at {part:.1%}": _flipped(part) for part in FLIPPED_AT},
    **{f"cut at {part:.0%}": _cut(part) for part in (0.0, 0.01, 0.3, 0.7, 0.99)},
    "zeros at its end": lambda blob: blob[: len(blob) // 2] + bytes(len(blob) - len(blob) // 2),
    "zeros in front": lambda blob: bytes(16) + blob[16:],
    "longer": lambda blob: blob + b"\0",
    "something else": lambda blob: b"something else",
}


def damages(state: State, earlier: State, other: State) -> Iterator[Damage]:
    """Every kind of damage at every blob of a state.

    ``earlier`` is the state of the same shard a batch before, ``other`` that of another shard.
    """
    for where, put in _places(state):
        for how, change in ALTERED.items():
            yield Damage(where, how, put(lambda value, change=change: _changed(value, change)))
        yield Damage(where, "missing", put(lambda value: None))
        for how, source in (("of a batch before", earlier), ("of another shard", other)):
            others = dict(_values(source))
            kind = where.split("/")[0]
            found = others.get(where) or next(
                (value for place, value in others.items() if place.startswith(kind)), None
            )
            if found is not None:
                yield Damage(where, how, put(lambda value, found=found: found))
    yield from _of_watermark(state)


def _of_watermark(state: State) -> Iterator[Damage]:
    for how, value in (
        ("missing", None),
        ("earlier", (state["watermark"][0] - 1_000_000,)),
        ("later", (state["watermark"][0] + 1_000_000,)),
    ):
        yield Damage("watermark", how, {**state, "watermark": value})


def _values(state: State) -> Iterator[tuple[str, Any]]:
    """The blobs of a state by place: variable and position, or variable, name and part."""
    for variable in ("head", "lessons"):
        for place, value in enumerate(state[variable] or ()):
            if value is not None:
                yield f"{variable}/{place}", value
    for variable in MAPS:
        for (name, part), (blob,) in state[variable].items():
            yield f"{variable}/{name}/{part}", blob


def _places(state: State) -> Iterator[tuple[str, Callable[[Callable[[Any], Any]], State]]]:
    for where, _ in _values(state):
        variable, *place = where.split("/")

        def put(change: Callable[[Any], Any], variable=variable, place=place) -> State:
            new = copy.deepcopy(state)
            if variable in MAPS:
                key = (place[0], int(place[1]))
                value = change(new[variable][key][0])
                if value is None:
                    del new[variable][key]
                else:
                    new[variable][key] = (value,)
                return new
            parts = list(new[variable])
            parts[int(place[0])] = change(parts[int(place[0])])
            is_gone = variable == "head" and parts[0] is None
            new[variable] = None if is_gone else tuple(parts)
            return new

        yield where, put


def _changed(value: Any, change: Bytes) -> Any:
    if isinstance(value, str):
        return change(value.encode()).decode("utf-8", "replace")
    return change(value)

"""Damage to what the state store holds, and its repair from a copy."""

import random
from typing import Any

from tests.simulation.state_store import MAPS, VALUES, Content, StateStore


class Damages:
    """What was altered in a store, and what stood there before."""

    def __init__(self, store: StateStore) -> None:
        self._store = store
        self._working: list[Content] = []
        self.done: list[tuple[Any, Any]] = []
        """Values as they were, and as they are."""

    def do(self, rng: random.Random, working: list[Content], cut: bool) -> str | None:
        """Alter one value everywhere it stands; says which, None if there is none."""
        self._working = working
        places = [
            (name, value)
            for content in [*self._store.latest(), *working]
            for name in (*VALUES, *MAPS)
            for value in (content[name].values() if name in MAPS else [content[name]])
            if value is not None
        ]
        if not places:
            return None
        name, value = rng.choice(places)
        altered = _altered(value, rng, cut)
        if altered == value:
            return None
        self._replace(value, altered)
        self.done.append((value, altered))
        return name

    def undo(self) -> None:
        """Restore every value that was altered."""
        for value, altered in reversed(self.done):
            self._replace(altered, value)
        self.done = []

    def _replace(self, old: Any, new: Any) -> None:
        for content in [*self._store.contents(), *self._working]:
            for name in VALUES:
                if content[name] is old:
                    content[name] = new
            for name in MAPS:
                for key in [key for key, value in content[name].items() if value is old]:
                    content[name][key] = new


def _altered(value: tuple[Any, ...], rng: random.Random, cut: bool) -> tuple[Any, ...]:
    """The value with one of its fields cut, or with a bit of it altered."""
    place = rng.choice([at for at, field in enumerate(value) if field is not None])
    field = value[place]
    if isinstance(field, int):
        changed: Any = field ^ (1 << rng.randrange(50))
    else:
        data = bytearray(field.encode() if isinstance(field, str) else field)
        if not data:
            return value
        if cut:
            del data[rng.randrange(len(data)) :]
        else:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        text = isinstance(field, str)
        changed = bytes(data).decode("utf-8", "replace") if text else bytes(data)
    return (*value[:place], changed, *value[place + 1 :])

"""A state store with versions, as Spark has them: a batch reads one and commits the next, whole."""

from collections.abc import Callable, Iterator
from typing import Any

VALUES = ("head", "watermark", "lessons", "control")
MAPS = ("segments", "histories")
Content = dict[str, Any]
"""The state variables of one key, and its timers."""


def nothing() -> Content:
    """The state of a key that has none."""
    return {**dict.fromkeys(VALUES), **{name: {} for name in MAPS}, "timers": ()}


def copied(content: Content) -> Content:
    """A copy that can be written without touching the other; blobs are immutable."""
    return {**content, **{name: dict(content[name]) for name in MAPS}}


class StateStore:
    """Committed versions by key."""

    def __init__(self) -> None:
        self._versions: dict[int, dict[int, Content]] = {}

    def up_to(self, version: int) -> "StateStore":
        """A store as this one was when it had this version."""
        store = StateStore()
        for key, versions in self._versions.items():
            if version in versions:
                store._versions[key] = {version: copied(versions[version])}
        return store

    def commit(self, key: int, version: int, content: Content) -> None:
        """Make a version durable; one of the same number is replaced."""
        self._versions.setdefault(key, {})[version] = copied(content)

    def load(self, key: int, version: int) -> Content:
        """What a batch begins with: the version before it."""
        if version < 0:
            return nothing()
        return copied(self._versions[key][version])

    def latest(self) -> Iterator[Content]:
        """The last version of each key."""
        for versions in self._versions.values():
            yield versions[max(versions)]

    def contents(self) -> Iterator[Content]:
        """Every version there is."""
        for versions in self._versions.values():
            yield from versions.values()


class Handle:
    """What a processor sees of the store in one task; things may happen at every call."""

    def __init__(self, tick: Callable[[str], None]) -> None:
        self.tick = tick
        self.contents: dict[int, Content] = {}
        self.key = 0

    @property
    def content(self) -> Content:
        """The state of the key at hand."""
        return self.contents[self.key]

    def getValueState(self, name: str, schema: str) -> "ValueState":
        """As of Spark's handle."""
        return ValueState(self, name)

    def getMapState(self, name: str, key: str, value: str) -> "MapState":
        """As of Spark's handle."""
        return MapState(self, name)

    def listTimers(self) -> Iterator[int]:
        """As of Spark's handle."""
        self.tick("list timers")
        return iter(self.content["timers"])

    def registerTimer(self, at: int) -> None:
        """As of Spark's handle."""
        self.tick("register a timer")
        self.content["timers"] = tuple(sorted({*self.content["timers"], at}))


class ValueState:
    """A value by key."""

    def __init__(self, handle: Handle, name: str) -> None:
        self._handle, self._name = handle, name

    def exists(self) -> bool:
        """As of Spark's."""
        self._handle.tick(f"ask for {self._name}")
        return self._handle.content[self._name] is not None

    def get(self) -> Any:
        """As of Spark's."""
        self._handle.tick(f"read {self._name}")
        return self._handle.content[self._name]

    def update(self, value: tuple[Any, ...]) -> None:
        """As of Spark's."""
        self._handle.tick(f"write {self._name}")
        self._handle.content[self._name] = value

    def clear(self) -> None:
        """As of Spark's."""
        self._handle.tick(f"clear {self._name}")
        self._handle.content[self._name] = None


class MapState:
    """Values by key and by a key of their own."""

    def __init__(self, handle: Handle, name: str) -> None:
        self._handle, self._name = handle, name

    @property
    def _values(self) -> dict[Any, Any]:
        values: dict[Any, Any] = self._handle.content[self._name]
        return values

    def exists(self) -> bool:
        """As of Spark's."""
        self._handle.tick(f"ask for {self._name}")
        return bool(self._values)

    def getValue(self, key: Any) -> Any:
        """As of Spark's."""
        self._handle.tick(f"read {self._name}")
        return self._values.get(key)

    def updateValue(self, key: Any, value: tuple[Any, ...]) -> None:
        """As of Spark's."""
        self._handle.tick(f"write {self._name}")
        self._values[key] = value

    def removeKey(self, key: Any) -> None:
        """As of Spark's."""
        self._handle.tick(f"remove from {self._name}")
        self._values.pop(key, None)

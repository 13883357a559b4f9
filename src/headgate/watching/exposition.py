"""Figures in the text form that Prometheus reads."""

from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from headgate.watching.exported_figures import COUNTER, exported
from headgate.watching.history import History

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4


class _Collector:
    """Gives the client library one family a name."""

    def __init__(self, history: History) -> None:
        self._history = history

    def collect(self) -> Iterator[Any]:
        families: dict[str, Any] = {}
        for figure in exported(self._history):
            family = families.get(figure.name)
            if family is None:
                kind: Any = CounterMetricFamily if figure.kind == COUNTER else GaugeMetricFamily
                names = [name for name, _ in figure.labels]
                family = families[figure.name] = kind(figure.name, figure.meaning, labels=names)
            family.add_metric([value for _, value in figure.labels], figure.value)
        yield from families.values()


def exposition(history: History) -> bytes:
    """The figures of all joins and lookups that run, or did of late."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(history))
    return generate_latest(registry)

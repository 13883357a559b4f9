"""The same figures through OpenTelemetry, to whatever exporter the program has set up."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from opentelemetry import metrics
from opentelemetry.metrics import CallbackOptions, Observation

from headgate.metrics import SUM, metrics_of
from headgate.metrics.metric_groups import JOIN_SUMS, LOOKUP_SUMS, Qualities
from headgate.watching import exported_figures as told
from headgate.watching.exported_figures import Exported, exported, exported_name
from headgate.watching.history import History

FRESH_S = 1.0
"""For how long figures are read once for all instruments."""
_GAUGES = (told.RUNNING, told.LATEST, told.BATCH, told.LAG, told.USED, told.BUDGET, told.SHARE)


class Telemetry:
    """Instruments for every figure; the exporter asks for them when it wants to.

    Parameters
    ----------
    history
        Where figures come from.
    provider
        The meter provider; the program's own unless given.
    """

    def __init__(self, history: History, provider: Any = None) -> None:
        self._history = history
        self._lock, self._read_at = threading.Lock(), 0.0
        self._figures: dict[str, list[Exported]] = {}
        meter = metrics.get_meter("headgate", meter_provider=provider)
        for name, meaning, is_counter in _instruments():
            make = meter.create_observable_counter if is_counter else meter.create_observable_gauge
            make(_as_otel(name), callbacks=[self._observe(name)], description=meaning)

    def _observe(self, name: str) -> Callable[[CallbackOptions], Iterable[Observation]]:
        def observe(_: CallbackOptions) -> Iterator[Observation]:
            for figure in self._now().get(name, ()):
                yield Observation(figure.value, dict(figure.labels))

        return observe

    def _now(self) -> dict[str, list[Exported]]:
        with self._lock:
            if time.monotonic() - self._read_at > FRESH_S:
                found: dict[str, list[Exported]] = {}
                for figure in exported(self._history):
                    found.setdefault(figure.name, []).append(figure)
                self._figures, self._read_at = found, time.monotonic()
            return self._figures


def _instruments() -> Iterator[tuple[str, str, bool]]:
    """Name, meaning, and whether it only grows; each name once."""
    yield told.BATCHES, "Batches done.", True
    for gauge in (*_GAUGES, told.EXPECTED, *told.SHARD_GAUGES):
        yield gauge.name, gauge.meaning, False
    declared = {each.name: each for each in metrics_of(*LOOKUP_SUMS, *JOIN_SUMS, Qualities)}
    for metric in declared.values():
        yield exported_name(metric), metric.meaning, metric.batches == SUM


def _as_otel(name: str) -> str:
    """The name as OpenTelemetry has it.

    Examples
    --------
    >>> _as_otel("headgate_shed_total"), _as_otel("headgate_recall")
    ('headgate.shed', 'headgate.recall')
    """
    return name.removesuffix("_total").replace("_", ".", 1)

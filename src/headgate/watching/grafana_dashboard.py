"""A Grafana dashboard of what `/metrics` tells, as JSON to import."""

import json
from typing import Any, NamedTuple

from headgate.watching import exported_figures as told

SCHEMA_VERSION = 39
"""Of Grafana 11; later ones migrate it."""
WIDTH = 24
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
CHOSEN = 'query=~"$query", join=~"$join"'


class DashboardPanel(NamedTuple):
    """A panel: title, unit, and its expressions with their legends."""

    title: str
    unit: str
    targets: tuple[tuple[str, str], ...]
    most: float | None = None
    stacked: bool = False
    kind: str = "timeseries"


def _of(name: str, more: str = "") -> str:
    return f"{name}{{{CHOSEN}{more}}}"


def _rate(name: str) -> str:
    return f"rate({_of(f'headgate_{name}_total')}[$__rate_interval])"


LOSSES = ("shed", "refused", "late", "unprobed", "unstored", "undecided")
PANELS = (
    DashboardPanel(
        "Recall",
        "percentunit",
        ((_of("headgate_total_recall"), "{{query}} {{join}}"),),
        1.0,
        kind="stat",
    ),
    DashboardPanel(
        "Budget used",
        "percentunit",
        ((_of(told.SHARE.name), "{{query}} {{join}}"),),
        1.0,
        kind="gauge",
    ),
    DashboardPanel(
        "Recall since the query began, and of the last batch",
        "percentunit",
        (
            (_of("headgate_total_recall"), "{{join}}"),
            (_of("headgate_total_recall_low"), "{{join}} lower end"),
            (_of("headgate_total_recall_high"), "{{join}} upper end"),
            (_of("headgate_recall"), "{{join}} last batch"),
        ),
        1.0,
    ),
    DashboardPanel(
        "Stored, under the budget (bytes, or rows)",
        "short",
        ((_of(told.USED.name), "{{join}} stored"), (_of(told.BUDGET.name), "{{join}} budget")),
    ),
    DashboardPanel(
        "Why rows are missing",
        "rowsps",
        tuple((_rate(name), f"{{{{join}}}} {name}") for name in LOSSES),
        stacked=True,
    ),
    DashboardPanel(
        "Recall expected with more and less memory",
        "percentunit",
        ((_of(told.EXPECTED.name), "{{join}} × {{memory}}"),),
        1.0,
    ),
    DashboardPanel(
        "Rows in, and results",
        "rowsps",
        (
            (f"{_rate('left_rows')} + {_rate('right_rows')}", "{{join}} rows in"),
            (_rate("pairs"), "{{join}} results"),
        ),
    ),
    DashboardPanel("Batch time", "s", ((_of(told.BATCH.name), "{{join}}"),)),
    DashboardPanel("Watermark lag", "s", ((_of(told.LAG.name), "{{join}}"),)),
    DashboardPanel(
        "Stored rows by shard", "short", ((_of(told.SHARD_GAUGES[1].name), "shard {{shard}}"),)
    ),
    DashboardPanel("Time by shard", "s", ((_of(told.SHARD_GAUGES[2].name), "shard {{shard}}"),)),
    DashboardPanel(
        "Lookups: hits and misses",
        "rowsps",
        ((_rate("hits"), "{{join}} hits"), (_rate("misses"), "{{join}} misses")),
        stacked=True,
    ),
)


def dashboard() -> dict[str, Any]:
    """The dashboard; it asks for the data source when it is imported."""
    panels, x, y, height = [], 0, 0, 0
    for number, shown in enumerate(PANELS, start=1):
        wide, high = (6, 5) if shown.kind != "timeseries" else (12, 8)
        if x + wide > WIDTH:
            x, y, height = 0, y + height, 0
        place = {"x": x, "y": y, "w": wide, "h": high}
        x, height = x + wide, max(height, high)
        panels.append(_panel(number, shown, place))
    return {
        "uid": "headgate",
        "title": "Headgate",
        "description": "Window joins and lookups within a budget: how good, how full, how fast.",
        "tags": ["headgate", "spark"],
        "schemaVersion": SCHEMA_VERSION,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "timezone": "browser",
        "templating": {"list": [_datasource(), _variable("query"), _variable("join")]},
        "annotations": {"list": []},
        "links": [],
        "panels": panels,
    }


def dashboard_json() -> str:
    """The same as text."""
    return json.dumps(dashboard(), indent=2)


def _panel(number: int, shown: DashboardPanel, place: dict[str, int]) -> dict[str, Any]:
    defaults: dict[str, Any] = {"unit": shown.unit, "min": 0, "custom": {}}
    if shown.most is not None:
        defaults["max"] = shown.most
    if shown.stacked:
        defaults["custom"] = {"stacking": {"mode": "normal", "group": "A"}, "fillOpacity": 30}
    options: dict[str, Any] = {"reduceOptions": {"calcs": ["lastNotNull"], "values": False}}
    if shown.kind == "timeseries":
        options = {
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
            "tooltip": {"mode": "multi", "sort": "desc"},
        }
    return {
        "id": number,
        "type": shown.kind,
        "title": shown.title,
        "datasource": DATASOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": options,
        "targets": [
            {
                "refId": chr(ord("A") + at),
                "datasource": DATASOURCE,
                "expr": expression,
                "legendFormat": legend,
            }
            for at, (expression, legend) in enumerate(shown.targets)
        ],
    }


def _datasource() -> dict[str, Any]:
    return {
        "name": "datasource",
        "label": "Prometheus",
        "type": "datasource",
        "query": "prometheus",
        "hide": 0,
        "multi": False,
        "includeAll": False,
        "current": {},
        "options": [],
        "refresh": 1,
    }


def _variable(name: str) -> dict[str, Any]:
    values = f"label_values({told.RUNNING.name}, {name})"
    return {
        "name": name,
        "label": name.capitalize(),
        "type": "query",
        "datasource": DATASOURCE,
        "query": {"query": values, "refId": name},
        "definition": values,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
        "options": [],
        "hide": 0,
        "refresh": 2,
        "sort": 1,
    }

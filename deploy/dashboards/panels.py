"""Dashboards and panels, and their JSON for the import of Grafana 9 and later."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

_SCHEMA: Final = 39
"""Version of Grafana's dashboard model."""
_COLUMNS: Final = 24
"""Number of columns of Grafana's grid."""
_HEIGHT: Final = 8
_STAT_HEIGHT: Final = 4
_SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}


@dataclass(frozen=True, slots=True)
class Query:
    """One PromQL expression.

    legend  text of its lines, with `{{label}}`
    quiet   whether the expression may return nothing in a healthy installation
    """

    expression: str
    legend: str = ""
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel.

    description  what the figures say, and what to do about them
    unit         of Grafana's list of units: s, Bps, short, ops, bytes, percentunit, none
    width        columns of 24
    kind         timeseries, stat or state-timeline
    red_above    value from which the figure is drawn in red
    """

    title: str
    description: str
    unit: str
    queries: Sequence[Query]
    width: int = 12
    kind: str = "timeseries"
    red_above: float | None = None


@dataclass(frozen=True, slots=True)
class Dashboard:
    """One dashboard.

    variable  metric whose label `instance` has the instances that a viewer can choose; empty: there
          is no choice
    """

    uid: str
    title: str
    description: str
    panels: Sequence[Panel]
    variable: str = ""


def to_json(dashboard: Dashboard) -> str:
    """Return the dashboard as Grafana imports it."""
    document = {
        "uid": dashboard.uid,
        "title": dashboard.title,
        "description": dashboard.description,
        "tags": ["roma"],
        "schemaVersion": _SCHEMA,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": _variables(dashboard)},
        "panels": _placed(dashboard.panels),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _variables(dashboard: Dashboard) -> list[dict[str, Any]]:
    source = {
        "name": "datasource",
        "label": "Data source",
        "type": "datasource",
        "query": "prometheus",
    }
    if not dashboard.variable:
        return [source]
    instance = {
        "name": "instance",
        "label": "Instance",
        "type": "query",
        "datasource": _SOURCE,
        "query": {"query": f"label_values({dashboard.variable}, instance)", "refId": "instance"},
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".+",
        "current": {"text": ["All"], "value": ["$__all"]},
    }
    return [source, instance]


def _placed(panels: Sequence[Panel]) -> list[dict[str, Any]]:
    placed, x, y, tallest = [], 0, 0, 0
    for number, panel in enumerate(panels, 1):
        height = _STAT_HEIGHT if panel.kind == "stat" else _HEIGHT
        if x + panel.width > _COLUMNS:
            x, y, tallest = 0, y + tallest, 0
        place = {"x": x, "y": y, "w": panel.width, "h": height}
        placed.append(_panel(panel, number, place))
        x, tallest = x + panel.width, max(tallest, height)
    return placed


def _panel(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"color": "green", "value": None}]
    if panel.red_above is not None:
        steps.append({"color": "red", "value": panel.red_above})
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": _SOURCE,
        "gridPos": place,
        "fieldConfig": {
            "defaults": {
                "unit": panel.unit,
                "min": 0,
                "thresholds": {"mode": "absolute", "steps": steps},
            },
            "overrides": [],
        },
        "options": _OPTIONS[panel.kind],
        "targets": [
            {
                "refId": chr(ord("A") + at),
                "datasource": _SOURCE,
                "expr": query.expression,
                "legendFormat": query.legend or "__auto",
            }
            for at, query in enumerate(panel.queries)
        ],
    }


_OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "timeseries": {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc"},
    },
    "stat": {
        "colorMode": "value",
        "graphMode": "none",
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "textMode": "auto",
    },
    "state-timeline": {"mergeValues": True, "showValue": "never", "rowHeight": 0.9},
}

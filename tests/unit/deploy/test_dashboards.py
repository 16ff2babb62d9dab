"""The dashboards name only existing metrics and labels, and their panels fit Grafana's grid."""

import json
import re

import pytest

from deploy.dashboards import DASHBOARDS, Dashboard, to_json
from relay.telemetry.metrics import LABELS
from spark_jobs.runtime.metrics import JobMetrics

KNOWN = LABELS | {family.name: () for family in JobMetrics().registry.collect()}
COMMON = {"instance", "job", "le"}
"""Labels of Prometheus itself."""


def expressions(dashboard: Dashboard) -> list[str]:
    return [query.expression for panel in dashboard.panels for query in panel.queries]


def declared(name: str) -> str:
    """The metric that a series belongs to."""
    return next(
        (
            base
            for suffix in ("_total", "_bucket", "")
            if (base := name.removesuffix(suffix)) in KNOWN
        ),
        name,
    )


@pytest.mark.parametrize("file", DASHBOARDS)
def test_every_metric_and_label_of_a_query_exists(file: str) -> None:
    for expression in expressions(DASHBOARDS[file]):
        metrics = {declared(each) for each in re.findall(r"\broma_\w+", expression)}
        assert metrics <= set(KNOWN), expression
        labels = {each for metric in metrics for each in KNOWN[metric]} | COMMON
        named = set(re.findall(r"[{,]\s*(\w+)\s*(?:=~|=|!=)", expression))
        for group in re.findall(r"\b(?:by|on) \(([^)]*)\)", expression):
            named |= {each.strip() for each in group.split(",")}
        assert named <= labels, expression


@pytest.mark.parametrize("file", DASHBOARDS)
def test_panels_lie_in_the_grid_and_do_not_overlap(file: str) -> None:
    taken: set[tuple[int, int]] = set()
    for panel in json.loads(to_json(DASHBOARDS[file]))["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert place["x"] + place["w"] <= 24, panel["title"]
        assert not cells & taken, panel["title"]
        taken |= cells


@pytest.mark.parametrize("file", DASHBOARDS)
def test_every_panel_says_what_its_figures_mean(file: str) -> None:
    panels = DASHBOARDS[file].panels
    assert len({each.title for each in panels}) == len(panels)
    assert all(each.description.endswith((".", "log.")) and each.unit for each in panels)

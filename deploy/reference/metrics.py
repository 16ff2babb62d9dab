"""The page of metrics, from the registries of the relay and of the Spark stream."""

from collections.abc import Iterator
from typing import Final

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import CollectorRegistry

from deploy.reference.markdown import escaped, page, table
from relay.telemetry.metrics import LABELS, REGISTRY
from spark_jobs.runtime.metrics import JobMetrics

_HEADINGS: Final = ("name", "kind", "labels", "meaning")


def metrics_page() -> str:
    """Return the page of all metrics."""
    return page(
        "Metrics",
        "Names of real tables are never labels. How to read the figures: [Metrics "
        "explained](../metrics.md). "
        "Rules for alerts: [Alerts](../alerts.md).",
        "## Relay and admin\n\nThe relay serves them at `/metrics` of `[status]`, the admin at "
        "its own `/metrics`. `source` is empty where "
        "an instance has one source. Both also carry `process_*` and `python_*` as the "
        "Prometheus client writes them.",
        table(_HEADINGS, _rows(REGISTRY)),
        "## Spark stream\n\n`roma dedup stream` serves them at `metrics_port`.",
        table(_HEADINGS, _rows(JobMetrics().registry)),
    )


def _rows(registry: CollectorRegistry) -> Iterator[list[str]]:
    for family in registry.collect():
        if family.name.startswith("roma_"):
            yield [
                f"`{_name(family)}`",
                family.type,
                ", ".join(LABELS.get(family.name, ())),
                escaped(family.documentation),
            ]


def _name(family: Metric) -> str:
    return f"{family.name}_total" if family.type == "counter" else family.name

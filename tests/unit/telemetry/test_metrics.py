"""Metrics: declared once, rendered in Prometheus' format."""

import re
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from relay.telemetry import InstanceMetrics, ShownTotals, Totals, metrics

_PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"


def samples(instance: str) -> dict[str, float]:
    families = text_string_to_metric_families(metrics.render().decode())
    return {
        ",".join([sample.name, *(value for label, value in sorted(sample.labels.items()) if label not in ("instance", "le"))]): sample.value
        for family in families
        for sample in family.samples
        if sample.labels.get("instance") == instance and "le" not in sample.labels
    }


def test_an_instances_figures_carry_its_name() -> None:
    shop = InstanceMetrics("metrics_shop")
    shop.published_rows.inc(3)
    shop.lag_seconds.set(0.25)
    shop.commit_seconds.observe(0.004)
    shop.dropped_rows("filter").inc(2)
    shop.aborts("BATCH_ABORTED").inc()
    found = samples("metrics_shop")
    assert found["roma_published_rows_total"] == 3
    assert found["roma_lag_seconds"] == 0.25
    assert found["roma_kafka_commit_seconds_count"] == 1
    assert found["roma_dropped_rows_total,filter"] == 2
    assert found["roma_kafka_aborts_total,BATCH_ABORTED"] == 1


def test_one_state_holds_at_a_time() -> None:
    shop = InstanceMetrics("metrics_states")
    for state in ("STARTING", "RUNNING", "RUNNING", "STOPPED"):
        shop.show_state(state)
    found = samples("metrics_states")
    assert {name: value for name, value in found.items() if "state" in name} == {
        "roma_instance_state,STARTING": 0,
        "roma_instance_state,RUNNING": 0,
        "roma_instance_state,STOPPED": 1,
    }


def test_every_metric_is_ours_or_the_processs() -> None:
    names = [family.name for family in text_string_to_metric_families(metrics.render().decode())]
    assert len(names) == len(set(names))
    assert all(name.startswith(("roma_", "process_", "python_")) for name in names)


def test_the_documentation_says_what_is_declared_in_its_order() -> None:
    written = re.findall(r"^\| `(roma_\w+)` \| (\w+) \| ([\w, ]*) \| (.+) \|$", _PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    declared = [
        (
            f"{family.name}_total" if family.type == "counter" else family.name,
            family.type,
            ", ".join(metrics.LABELS[family.name]),
            family.documentation,
        )
        for family in metrics.REGISTRY.collect()
        if family.name.startswith("roma_")
    ]
    assert written == declared


def test_counters_rise_to_the_totals_and_a_duration_counts_once() -> None:
    shown, totals = ShownTotals(InstanceMetrics("metrics_totals")), Totals()
    totals.source_connections, totals.source_rows, totals.published_rows = 1, 5, 3
    totals.commit_seconds.extend((0.01, 0.3))
    totals.aborts["FENCED"] += 1
    shown.show(totals)
    totals.source_connections, totals.published_rows = 3, 7
    totals.dropped_rows["filter"] += 2
    shown.show(totals)
    shown.show(totals)
    found = samples("metrics_totals")
    assert {name: value for name, value in found.items() if value and "_created" not in name} == {
        "roma_source_rows_total": 5,
        "roma_source_reconnects_total": 2,
        "roma_published_rows_total": 7,
        "roma_kafka_commit_seconds_count": 2,
        "roma_kafka_commit_seconds_sum": pytest.approx(0.31),
        "roma_kafka_aborts_total,FENCED": 1,
        "roma_dropped_rows_total,filter": 2,
    }

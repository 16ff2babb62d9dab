"""Metrics: declared once, rendered in Prometheus' format."""

import re

import pytest
from prometheus_client.parser import text_string_to_metric_families

from relay.state import InstanceStatus
from relay.telemetry import InstanceMetrics, ShownTotals, Totals, metrics


def samples(instance: str) -> dict[str, float]:
    families = text_string_to_metric_families(metrics.render().decode())
    return {
        ",".join(
            [
                sample.name,
                *(
                    value
                    for label, value in sorted(sample.labels.items())
                    if label not in ("instance", "le")
                ),
            ]
        ): sample.value
        for family in families
        for sample in family.samples
        if sample.labels.get("instance") == instance and "le" not in sample.labels
    }


def test_an_instances_figures_carry_its_name() -> None:
    shop = InstanceMetrics("metrics_shop")
    shop.published_rows.inc(3)
    shop.gauges.lag_seconds.set(0.25)
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


def test_an_instance_that_is_removed_keeps_one_series_that_says_so() -> None:
    shop = InstanceMetrics("metrics_removed")
    shop.show_state("RUNNING")
    shop.dropped_rows("filter").inc()
    shop.commit_seconds.observe(0.1)
    metrics.SERVER_ANSWERS.labels("metrics_removed", "", "master").set(1)
    InstanceMetrics("metrics_stays").show_state("RUNNING")
    shop.remove()
    assert samples("metrics_removed") == {"roma_instance_state,REMOVED": 1}
    assert samples("metrics_stays")["roma_instance_state,RUNNING"] == 1
    InstanceMetrics("metrics_removed").show_state("STARTING")
    assert {
        name: value for name, value in samples("metrics_removed").items() if "state" in name
    } == {"roma_instance_state,STARTING": 1}


def test_times_are_in_base_units_and_no_series_is_a_creation_time() -> None:
    shop = InstanceMetrics("metrics_units")
    shop.published_rows.inc()
    status = InstanceStatus("metrics_units", "RUNNING", execute_time=1_767_225_600_250)
    shop.gauges.show_status(status.to_fields())
    found = samples("metrics_units")
    assert found["roma_execute_time_seconds"] == 1_767_225_600.25
    assert found["roma_execute_time_ms"] == 1_767_225_600_250
    assert not [name for name in found if "_created" in name]
    units = [
        family.name
        for family in metrics.REGISTRY.collect()
        if re.search("_(ms|millis|minutes|kb|mb)$", family.name)
    ]
    assert units == ["roma_execute_time_ms"]


def test_every_metric_is_ours_or_the_processs() -> None:
    names = [family.name for family in text_string_to_metric_families(metrics.render().decode())]
    assert len(names) == len(set(names))
    assert all(name.startswith(("roma_", "process_", "python_")) for name in names)


def test_counters_rise_to_the_totals_and_a_duration_counts_once() -> None:
    shown, totals = ShownTotals(InstanceMetrics("metrics_totals")), Totals()
    totals.source_connections, totals.source_rows, totals.published_rows = 1, 5, 3
    totals.commit_seconds.extend((0.01, 0.3))
    totals.publish_seconds.append(0.03)
    totals.aborts["FENCED"] += 1
    totals.errors["BROKER_UNREACHABLE"] += 2
    shown.show(totals)
    totals.source_connections, totals.published_rows = 3, 7
    totals.dropped_rows["filter"] += 2
    shown.show(totals)
    shown.show(totals)
    found = samples("metrics_totals")
    assert {name: value for name, value in found.items() if value} == {
        "roma_source_rows_total": 5,
        "roma_source_reconnects_total": 2,
        "roma_published_rows_total": 7,
        "roma_kafka_commit_seconds_count": 2,
        "roma_kafka_commit_seconds_sum": pytest.approx(0.31),
        "roma_kafka_aborts_total,FENCED": 1,
        "roma_commit_to_publish_seconds_count": 1,
        "roma_commit_to_publish_seconds_sum": pytest.approx(0.03),
        "roma_errors_total,BROKER_UNREACHABLE": 2,
        "roma_dropped_rows_total,filter": 2,
    }

"""What Prometheus reads of a client."""

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from roma_client.metrics import PrometheusMetrics
from roma_client.records.decoding import Reading, changes_of
from roma_client.records.selection import Selection
from tests.support.clients.made_records import row_record


def test_delivered_changes_are_counted_by_table_and_operation_with_the_delay_of_the_last() -> None:
    registry = CollectorRegistry()
    metrics = PrometheusMetrics(registry, "g")
    assert registry.get_sample_value("roma_client_delay_seconds", {"group": "g"}) is None
    for kind, delay in (("INSERT", 1.0), ("INSERT", 2.0), ("DELETE", 0.5)):
        record = row_record([{"id": "1"}], kind=kind)
        (change,) = changes_of(record, Selection(lambda _name: True), Reading())
        metrics.delivered(change, delay)
    labels = {"group": "g", "database": "shop", "table": "orders"}
    for operation, number in (("INSERT", 2), ("DELETE", 1)):
        found = registry.get_sample_value(
            "roma_client_changes_total", {**labels, "operation": operation}
        )
        assert found == number
    assert registry.get_sample_value("roma_client_delay_seconds", {"group": "g"}) == 0.5
    assert b"# TYPE roma_client_changes_total counter" in generate_latest(registry)


def test_a_registry_takes_one_client() -> None:
    registry = CollectorRegistry()
    PrometheusMetrics(registry, "g")
    with pytest.raises(ValueError, match="Duplicated timeseries"):
        PrometheusMetrics(registry, "h")

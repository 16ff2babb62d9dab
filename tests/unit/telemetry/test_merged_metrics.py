"""The metrics of several processes as one text that Prometheus' own parser reads."""

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from relay.telemetry import merged
from relay.telemetry.metrics import LOG_LINES_LOST, REGISTRY, WORKER_ENDS, WORKER_UP, render
from relay.telemetry.worker_metrics import forget_workers, render_parent

ODD = 'a "quoted" {brace}, \\ and\nline\u2028 end'


def text(value: float) -> bytes:
    registry = CollectorRegistry()
    Gauge("plain", "Without labels", registry=registry).set(value)
    Counter("rows", "By cause", ["cause"], registry=registry).labels(ODD).inc(value)
    Histogram("took", "Seconds", ["what"], registry=registry).labels("a b").observe(value)
    return generate_latest(registry)


def samples(merged_text: bytes) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    found = {}
    for family in text_string_to_metric_families(merged_text.decode()):
        for each in family.samples:
            key = each.name, tuple(sorted(each.labels.items()))
            assert key not in found, "a sample is there twice"
            found[key] = each.value
    return found


def test_each_sample_has_the_worker_and_is_otherwise_the_same() -> None:
    found = samples(merged([("1", text(2)), ("2", text(3))]))
    expected = {
        (name, tuple(sorted((*labels, ("worker", worker))))): value
        for worker, number in (("1", 2), ("2", 3))
        for (name, labels), value in samples(text(number)).items()
    }
    assert found == expected


def test_a_family_has_one_head_and_its_samples_follow_it() -> None:
    lines = merged([("1", text(2)), ("2", text(3)), ("3", text(4))]).decode().split("\n")
    heads = [line for line in lines if line.startswith("#")]
    assert len(heads) == len(set(heads)) == 6
    assert [line.split("{")[0] for line in lines if line and line[0] != "#"][:3] == ["plain"] * 3


def test_a_text_without_a_worker_is_not_changed() -> None:
    assert merged([("", text(2))]) == text(2)
    own = b'# HELP up x\n# TYPE up gauge\nup{worker="1"} 1.0\n'
    assert merged([("", own), ("1", b"# HELP up x\n# TYPE up gauge\n")]) == own
    assert merged([]) == b""


@pytest.mark.parametrize("workers", [1, 2])
def test_the_relays_own_metrics_can_be_merged(workers: int) -> None:
    """A worker that was forked after its parent had counted shows none of that."""
    WORKER_UP.labels("1").set(1)
    WORKER_ENDS.labels("1").inc()
    assert b'worker="1"' in render_parent()[0]
    forget_workers()
    one = samples(render())
    found = samples(merged([(str(number), render()) for number in range(workers)]))
    assert len(found) == workers * len(one)


def test_a_worker_does_not_count_the_lines_that_its_parent_lost() -> None:
    before = REGISTRY.get_sample_value("roma_log_lines_lost_total")
    LOG_LINES_LOST.inc()
    assert b"roma_log_lines_lost_total %.1f\n" % ((before or 0.0) + 1) in render_parent()[1]
    forget_workers()
    assert REGISTRY.get_sample_value("roma_log_lines_lost_total") == 0

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from deploy.embedded.processes.ports import Port
from spark_jobs.config.job import JobSettings, KafkaSource
from spark_jobs.errors import JobConfigurationError
from spark_jobs.runtime.metrics import served_metrics

SETTINGS = JobSettings(
    kafka=KafkaSource(bootstrap_servers="k:9092", topics=("shop",)), copy_root="copies"
)


def test_without_a_port_there_are_none() -> None:
    with served_metrics(SETTINGS) as metrics:
        assert metrics is None


@pytest.fixture
def settings() -> Iterator[JobSettings]:
    """A job with a port of its own."""
    port = Port()
    yield SETTINGS.model_copy(update={"metrics_port": port.number})
    port.release()


def test_they_are_served_and_named_on_the_page(settings: JobSettings) -> None:
    url = f"http://{settings.metrics_host}:{settings.metrics_port}/metrics"
    with served_metrics(settings), urlopen(url, timeout=5) as answer:
        served = re.findall(r"^# TYPE (\w+) (\w+)$", answer.read().decode(), re.MULTILINE)
    page = (Path(__file__).parents[3] / "docs" / "reference" / "metrics.md").read_text(
        encoding="utf-8"
    )
    told = re.findall(r"^\| `(roma_dedup_\w+)` \| (counter|gauge) ", page, re.MULTILINE)
    assert set(served) == set(told)


def test_a_port_that_is_taken_is_named(settings: JobSettings) -> None:
    taken = pytest.raises(JobConfigurationError, match=r"^127\.0\.0\.1:\d+ cannot serve metrics: ")
    with served_metrics(settings), taken, served_metrics(settings):
        pytest.fail("two servers on one port")

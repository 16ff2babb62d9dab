"""Changes from before the time until which deleted keys are remembered (`guards_days`), and the
maintenance that forgets them.
"""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pyspark.sql import SparkSession

from relay.model.message import OutboundMessage
from spark_jobs.apply.delete_retention import DeleteWatermark
from spark_jobs.apply.quarantine import Quarantine
from spark_jobs.sinks import commit_lock
from spark_jobs.sinks.parquet import ParquetSink
from tests.support.copies.spark_copies import apply, change, copies, copy_of

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
DAY_MS = 86_400_000
REMEMBERED: dict[str, Any] = {"guards_days": 10, "tidy_minutes": 0}


def on_day(kind: str, key: str, day: int, **data: str) -> OutboundMessage:
    return change("t", kind, key, day, time_ms=day * DAY_MS, id=key, row=data)


def test_a_second_run_over_the_whole_topic_puts_nothing_aside(
    spark: SparkSession, tmp_path: Path
) -> None:
    """As a batch job does, or a stream that was killed after the maintenance of a batch."""
    topic = [
        on_day("INSERT", "old", 1, n="a"),
        on_day("INSERT", "gone", 1),
        on_day("INSERT", "again", 1, n="a"),
        on_day("DELETE", "gone", 2),
        on_day("UPDATE", "old", 3, n="b"),
        on_day("DELETE", "again", 4),
        on_day("INSERT", "again", 29, n="c"),
        on_day("INSERT", "new", 30),
    ]
    for _ in range(2):
        figures = apply(spark, tmp_path, *topic, **REMEMBERED)
        assert figures.problems == {}
        found = {key: row["n"] for key, row in copy_of(spark, tmp_path).items()}
        assert found == {"old": "b", "again": "c", "new": None}


def test_a_late_change_is_compared_where_the_copy_has_its_key(
    spark: SparkSession, tmp_path: Path
) -> None:
    apply(spark, tmp_path, on_day("INSERT", "1", 2, n="a"), on_day("INSERT", "2", 1))
    apply(spark, tmp_path, on_day("DELETE", "2", 2), on_day("INSERT", "3", 30), **REMEMBERED)
    late = [on_day("UPDATE", "1", 1, n="x"), on_day("UPDATE", "1", 3, n="b")]
    unknown = [on_day("UPDATE", "2", 1, n="x"), on_day("INSERT", "4", 3, n="x")]
    figures = apply(spark, tmp_path, *late, *unknown, **REMEMBERED)
    assert [(reason[:30], count) for reason, count in figures.problems.items()] == [
        ("table shop.orders has a change", 2)
    ]
    assert {key: row["n"] for key, row in copy_of(spark, tmp_path).items()} == {
        "1": "b",
        "3": None,
    }
    aside = Quarantine(str(tmp_path)).read(spark).collect()
    assert sorted(row["key"] for row in aside) == ['["shop.orders","2"]', '["shop.orders","4"]']


def test_the_time_of_forgotten_deletes_never_decreases(spark: SparkSession, tmp_path: Path) -> None:
    """Two jobs write the copies: the slower one moves the time that it read at its start."""
    jobs = [DeleteWatermark(spark, str(tmp_path)) for _ in range(2)]
    jobs[0].raise_to(100)
    jobs[1].raise_to(80)
    assert (jobs[1].before_ms, DeleteWatermark(spark, str(tmp_path)).before_ms) == (100, 100)
    jobs[1].raise_to(120)
    jobs[0].refresh()
    assert jobs[0].before_ms == 120


def test_a_job_that_was_killed_in_its_maintenance_continues(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had applied a batch without a row: no write had told the sink the job's name."""
    monkeypatch.setattr(commit_lock, "_PATIENCE_S", 0)
    settings: dict[str, Any] = {"sink": "parquet", **REMEMBERED}
    apply(spark, tmp_path, on_day("INSERT", "1", 1), on_day("DELETE", "1", 2), **settings)
    job = copies(spark, tmp_path, **settings)
    job.horizon.raise_to(20 * DAY_MS)
    with (
        patch.object(ParquetSink, "_commit", side_effect=InterruptedError),
        patch.object(commit_lock._File, "remove"),  # noqa: SLF001 - a kill leaves the file
        pytest.raises(InterruptedError),
    ):
        apply(spark, tmp_path, **settings)
    apply(spark, tmp_path, on_day("INSERT", "2", 30), **settings)
    rows = copies(spark, tmp_path, **settings).sink.read("shop.orders")
    assert rows is not None
    assert [row["id"] for row in rows.collect()] == ["2"]

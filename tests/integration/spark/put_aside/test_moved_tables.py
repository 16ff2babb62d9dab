"""Markers of tables that move to another topic: a job that does not read it says so."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from relay.envelope import MovedMarker
from relay.model.message import OutboundMessage
from spark_jobs.apply.apply import Copies
from spark_jobs.apply.quarantine import Quarantine
from spark_jobs.config.job import JobSettings, KafkaSource
from spark_jobs.spark_util.batch_stats import BatchFigures
from tests.support.copies.spark_copies import change, copy_of, records

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


def marker(topic: str, *to: str) -> OutboundMessage:
    made = MovedMarker("shop", topic.removesuffix(".ddl"), to, 7, "a", ("a", "b"))
    return OutboundMessage(topic, 0, made.key(), None, (("moved", made.header()),))


def applied(
    spark: SparkSession,
    root: Path,
    topics: Sequence[str],
    *messages: OutboundMessage,
    **settings: Any,
) -> BatchFigures:
    source = KafkaSource(bootstrap_servers="127.0.0.1:1", topics=tuple(topics))
    job = JobSettings.model_validate({"kafka": source, "copy_root": str(root), **settings})
    return Copies.of(spark, job).apply(records(spark, messages), "tests", None)


@pytest.mark.parametrize("rule", [{}, {"raw_rule": True}], ids=["pair", "raw"])
def test_a_move_to_unread_topics_is_put_aside_by_name(
    spark: SparkSession, tmp_path: Path, rule: dict[str, bool]
) -> None:
    row = change("t", "INSERT", "1", 1, fields={"es": 1}, source="1:b.1:4", id="1")
    ends = [marker("t", "t", "u.x", "v"), marker("t"), marker("t", "{db}.{table}")]
    figures = applied(spark, tmp_path, ["t", "v", "uxx", "shopXorders"], row, *ends, **rule)
    unread = (
        "database shop left topic t with mapping set 7 for {}, which the job does not read: copies "
        "lack its later changes until kafka.topics has all next topics"
    )
    assert figures.problems == {
        unread.format("u.x"): 1,
        unread.format("{db}.{table}"): 1,
        "database shop left topic t with mapping set 7, and is mapped no more: its copies end "
        "here": 1,
    }
    assert list(copy_of(spark, tmp_path)) == ["1"]
    kept = Quarantine(str(tmp_path)).read(spark).collect()
    assert {row["problem"] for row in kept} == set(figures.problems)
    assert all(row["key"] for row in kept)


def test_a_move_that_the_job_follows_is_no_problem(spark: SparkSession, tmp_path: Path) -> None:
    topics = ["t", "t.ddl", "u", "shop.orders"]
    followed = [marker("t", "u"), marker("t", "t", "u"), marker("t", "{db}.{table}")]
    figures = applied(spark, tmp_path, topics, *followed, marker("t.ddl", "t"))
    assert (figures.problems, figures.rows) == ({}, 0)
    figures = applied(spark, tmp_path, topics, marker("t.ddl", "u"))
    assert [reason.partition(", which")[0] for reason in figures.problems] == [
        "database shop left topic t.ddl with mapping set 7 for u.ddl"
    ]


def test_a_marker_of_a_newer_relay_is_put_aside(spark: SparkSession, tmp_path: Path) -> None:
    newer = OutboundMessage("t", 0, b"{}", None, (("moved", b'{"version":2,"to":["t"]}'),))
    figures = applied(spark, tmp_path, ["t"], newer)
    assert [reason.partition(":")[0] for reason in figures.problems] == [
        "the marker of a moved table has a form that this version does not read"
    ]

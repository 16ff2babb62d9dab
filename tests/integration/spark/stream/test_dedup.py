"""Topics → Delta copies, on a real broker and a real Spark."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
from pyspark.sql import SparkSession

from deploy.embedded import Kafka
from relay.encode import CanalJson
from relay.envelope import Claim, claim_text
from relay.model.message import OutboundMessage
from spark_jobs import dedup_batch
from spark_jobs.apply.quarantine import Quarantine
from spark_jobs.kafka.source import Bounds
from spark_jobs.runtime.metrics import JobMetrics
from tests.support.copies.job_process import JobProcess
from tests.support.copies.spark_copies import (
    apply,
    change,
    copies,
    copy_of,
    drain,
    job,
    publish,
    records,
)
from tests.support.waiting import wait_until

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


def test_the_newest_change_of_each_key_wins_and_deletes_stay(
    spark: SparkSession, kafka: Kafka, fresh_name: Callable[[str], str], tmp_path: Path
) -> None:
    topic = fresh_name("orders")
    publish(kafka, topic, change(topic, "INSERT", "9", 1, id="9", n="aborted"), commit=False)
    publish(
        kafka,
        topic,
        change(topic, "INSERT", "1", 10, id="1", n="first"),
        change(topic, "UPDATE", "1", 30, id="1", n="newest"),
        change(topic, "UPDATE", "1", 20, id="1", n="late"),
        change(topic, "INSERT", "2", 40, id="2", n="two"),
        change(topic, "DELETE", "2", 50, id="2", n="two"),
        OutboundMessage(topic, 0, b'["shop.orders","2"]', None, ()),
        change(topic, "INSERT", "3", 60, id="3", n=None),
    )
    figures = dedup_batch.run(job(kafka, topic, tmp_path))
    assert (
        figures.rows,
        figures.keys,
        figures.winners,
        figures.stale,
        figures.deletes,
        figures.put_aside,
    ) == (7, 3, 3, 3, 1, 1)
    assert figures.problems == {"the record has no value and no order header": 1}
    assert 0 <= figures.lag_seconds < 60
    root = tmp_path / "copy"
    assert copy_of(spark, root) == {"1": {"id": "1", "n": "newest"}, "3": {"id": "3", "n": None}}
    publish(
        kafka,
        topic,
        change(topic, "UPDATE", "2", 45, id="2", n="late"),
        change(topic, "INSERT", "4", 70, id="4", n="four", new="x"),
    )
    dedup_batch.run(job(kafka, topic, tmp_path))
    assert copy_of(spark, root)["4"] == {"id": "4", "n": "four", "new": "x"}
    assert "2" not in copy_of(spark, root)


def test_the_stream_goes_on_at_its_checkpoint_and_puts_aside_by_name(
    spark: SparkSession,
    kafka: Kafka,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    topic = fresh_name("orders")
    settings = job(kafka, topic, tmp_path)
    publish(
        kafka,
        topic,
        change(topic, "INSERT", "1", 10, id="1", n="a"),
        OutboundMessage(topic, 0, b"k", b"not json", ()),
    )
    drain(settings)
    assert copy_of(spark, tmp_path / "copy") == {"1": {"id": "1", "n": "a"}}
    assert (
        "batch 0: put aside 1: the value is not a message of the relay\n" in capsys.readouterr().out
    )

    keyless = [
        change(topic, "INSERT", None, order, table="log", id=str(order)) for order in (30, 31)
    ]
    publish(kafka, topic, change(topic, "UPDATE", "1", 20, id="1", n="b"), *keyless)
    metrics = JobMetrics()
    drain(settings, metrics)
    assert copy_of(spark, tmp_path / "copy") == {"1": {"id": "1", "n": "b"}}
    value = metrics.registry.get_sample_value
    wait_until(lambda: value("roma_dedup_running") == 0, "Spark's word that the stream ended")
    spark.streams.removeListener(metrics)
    counted = {
        name: value(f"roma_dedup_{name}")
        for name in (
            "batches_total",
            "rows_total",
            "winners_total",
            "put_aside_total",
            "batch_number",
        )
    }
    assert counted == {
        "batches_total": 1,
        "rows_total": 3,
        "winners_total": 1,
        "put_aside_total": 2,
        "batch_number": 1,
    }
    assert 0 < (value("roma_dedup_rows_per_second") or 0) < 1000
    sentence = (
        "table shop.log has no key, so it has no copy: give it a primary key or a unique NOT NULL "
        "key"
    )
    out = capsys.readouterr().out
    assert "batch 1: 3 rows in, 1 winners, 0 stale, 0 deletes, 2 put aside, lag " in out
    assert f"batch 1: put aside 2: {sentence}\n" in out

    kept = spark.read.format("delta").load(Quarantine(str(tmp_path / "copy")).path)
    assert kept.where("table = 'shop.log'").select("problem", "offset").distinct().count() == 2
    assert {row["problem"] for row in kept.where("table = 'shop.log'").collect()} == {sentence}
    assert [bytes(row["value"]) for row in kept.where("table is null").collect()] == [b"not json"]


def test_what_is_put_aside_is_there_once_however_often_it_is_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    batch = records(spark, [OutboundMessage("t", 0, b"k", b"not json", ())])
    for _ in range(2):
        assert copies(spark, tmp_path).apply(batch, "tests").put_aside == 1
    assert Quarantine(str(tmp_path)).read(spark).count() == 1


def test_what_the_relay_kept_elsewhere_is_put_aside_by_name(
    spark: SparkSession, tmp_path: Path
) -> None:
    whole = change("t", "UPDATE", "1", 10, id="1", n="x")
    claim = claim_text(Claim.of("s3://bucket/x", whole.value or b"")).encode()
    claimed = replace(
        whole,
        value=CanalJson("exact").reference(whole.value or b""),
        headers=(*whole.headers, ("claim", claim)),
    )
    statement = orjson.dumps(
        {
            **orjson.loads(CanalJson("exact").reference(whole.value or b"")),
            "type": "QUERY",
            "sql": "/* dead letter 10-1 */",
        }
    )
    marker = replace(
        whole, topic="t.ddl", value=statement, headers=(*whole.headers, ("dead-letter", b"10-1"))
    )
    lacking = replace(whole, headers=(*whole.headers, ("unknown", b'{"data":["v"],"old":["n"]}')))
    figures = apply(spark, tmp_path, claimed, marker, lacking)
    assert sorted(sentence.partition(",")[0] for sentence in figures.problems) == [
        "table shop.orders comes with partial row images",
        "table shop.orders had a row that became a dead letter",
        "table shop.orders has a value that was too large for Kafka (claim check)",
    ]


@pytest.mark.long
def test_a_range_is_read_by_time_and_by_offsets(
    spark: SparkSession, kafka: Kafka, fresh_name: Callable[[str], str], tmp_path: Path
) -> None:
    topic = fresh_name("orders")
    publish(
        kafka,
        topic,
        *(change(topic, "INSERT", str(order), order, id=str(order)) for order in range(4)),
    )
    middle = datetime.now(UTC)
    publish(
        kafka,
        topic,
        *(change(topic, "INSERT", str(order), order, id=str(order)) for order in range(4, 6)),
    )
    offsets = Bounds(from_offsets=f'{{"{topic}":{{"0":1}}}}', to_offsets=f'{{"{topic}":{{"0":3}}}}')
    ranges = {
        "offsets": offsets,
        "since": Bounds(since=middle),
        "until": Bounds(until=middle),
        "later": Bounds(since=middle + timedelta(days=1)),
    }
    for name, bounds in ranges.items():
        dedup_batch.run(job(kafka, topic, tmp_path / name), bounds)
    found = {
        name: sorted(copy_of(spark, tmp_path / name / "copy"))
        for name in ("offsets", "since", "until")
    }
    assert found == {"offsets": ["1", "2"], "since": ["4", "5"], "until": ["0", "1", "2", "3"]}
    assert not (tmp_path / "later" / "copy" / "shop").exists()


@pytest.mark.long
@pytest.mark.parametrize(("command", "number"), [("batch", None), ("stream", 0)])
def test_standard_output_of_a_job_for_programs_is_one_object_a_batch(
    kafka: Kafka,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
    command: str,
    number: int | None,
) -> None:
    topic = fresh_name("orders")
    garbage = OutboundMessage(topic, 0, b"k", b"not json", ())
    publish(kafka, topic, change(topic, "INSERT", "1", 10, id="1", n="a"), garbage)
    program = (sys.executable, "-m", "relay", "dedup", command, "--json")
    settings = job(kafka, topic, tmp_path)
    patient = settings.kafka.model_copy(update={"patience_seconds": 60})
    settings = settings.model_copy(update={"kafka": patient})
    with JobProcess(settings, tmp_path, *program) as process:
        code = process.wait(300)
    assert code == 0, process.errors
    printed = process.output
    assert printed.count("\n") == 1, printed
    found = json.loads(printed)
    wanted = {"batch": number, "rows": 2, "winners": 1, "put_aside": 1, "stale": 0, "deletes": 0}
    assert wanted.items() <= found.items()
    assert found["problems"] == {"the value is not a message of the relay": 1}

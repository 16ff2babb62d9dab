"""The job cut off at each step of a batch and told to end, as a process of its own or
spark-submit's, and without a broker.
"""

import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from unittest.mock import patch

import pytest
import tomli_w
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from deploy.embedded import Kafka
from spark_jobs import dedup_batch, dedup_stream
from spark_jobs.config.job import JobSettings
from spark_jobs.errors import CheckpointOfOthers, OffsetsLost, TopicUnknown
from spark_jobs.runtime.shutdown import Shutdown
from spark_jobs.sinks import DeltaSink
from spark_jobs.sinks.delta_lake.transaction import Batch
from spark_jobs.sinks.sink import TableBatch, Written
from tests.support.copies import crashing_job
from tests.support.copies.job_process import JobProcess, spark_submit
from tests.support.copies.spark_copies import change, copy_of, drain, job, publish
from tests.support.copies.spark_histories import TableRows, copies_below, history, truth
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.timeout(300),
]
PATIENCE_S = 3


class BrokenOff(Exception):
    """Raised where a crash would strike."""


def copies(spark: SparkSession, folder: Path) -> TableRows:
    """What the copies hold, of those tables that have one."""
    return copies_below(spark, folder / "copy")


def noted(folder: Path, what: str) -> set[str]:
    """The batches that the checkpoint knows: `offsets` were begun, `commits` were finished."""
    return {path.name for path in (folder / "checkpoint" / what).glob("[0-9]*")}


def copies_begun(folder: Path) -> set[str]:
    """The tables for which a batch has begun to write."""
    return {path.name for path in (folder / "copy" / "shop").glob("*")}


def configuration(folder: Path, bootstrap_servers: str, topic: str) -> Path:
    """A file that names a broker and a topic."""
    source = {
        "bootstrap_servers": bootstrap_servers,
        "topics": [topic],
        "patience_seconds": PATIENCE_S,
    }
    file = folder / "job.toml"
    file.write_text(
        tomli_w.dumps(
            {
                "copy_root": str(folder / "copy"),
                "checkpoint": str(folder / "checkpoint"),
                "kafka": source,
            }
        ),
        encoding="utf-8",
    )
    return file


def break_off_behind_the_first_table(settings: JobSettings) -> None:
    """Run the stream in this process until one table is merged.

    That one's caller and everything behind it never learns of it.
    """
    merge = DeltaSink.merge

    def merge_and_break_off(sink: DeltaSink, changes: TableBatch, batch: Batch | None) -> Written:
        merge(sink, changes, batch)
        raise BrokenOff

    with (
        patch.object(DeltaSink, "merge", merge_and_break_off),
        pytest.raises(StreamingQueryException, match="BrokenOff"),
    ):
        drain(settings)


def kill_with_all_applied(settings: JobSettings, folder: Path) -> None:
    """Let spark-submit run the job, and see it killed with its JVM when all of a batch is in the
    copies, and nowhere noted.
    """
    places = {
        "copy_root": f"file://{settings.copy_root}",
        "checkpoint": f"file://{settings.checkpoint}",
    }
    command, environment = spark_submit(crashing_job.__file__)
    with JobProcess(settings.model_copy(update=places), folder, *command, **environment) as process:
        assert process.wait() == -signal.SIGKILL, process.errors


def test_a_batch_cut_off_at_any_step_leaves_the_copies_exact(
    spark: SparkSession,
    kafka: Kafka,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    topic = fresh_name("orders")
    first, second = history(1, range(0, 400, 2)), history(2, range(1, 600, 2))
    settings = job(kafka, topic, tmp_path)
    publish(kafka, topic, *(each.message(topic) for each in first))

    break_off_behind_the_first_table(settings.model_copy(update={"merge_threads": 1}))
    assert copies(spark, tmp_path) == {"lines": truth(first)["lines"]}
    assert (noted(tmp_path, "offsets"), noted(tmp_path, "commits")) == ({"0"}, set())

    publish(kafka, topic, *(each.message(topic) for each in second))
    kill_with_all_applied(settings, tmp_path)
    assert copies(spark, tmp_path) == truth(first)
    assert (noted(tmp_path, "offsets"), noted(tmp_path, "commits")) == ({"0"}, set())

    drain(settings)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("batch")]
    assert [line.split(",")[0] for line in lines] == [
        "batch 0: 200 rows in",
        "batch 1: 300 rows in",
    ]
    assert ["2 tables had it already" in line for line in lines] == [True, False]
    assert copies(spark, tmp_path) == truth(first + second)
    assert noted(tmp_path, "commits") == {"0", "1"}


@pytest.mark.long
def test_sigterm_ends_the_job_after_the_batch_that_runs(
    spark: SparkSession, kafka: Kafka, fresh_name: Callable[[str], str], tmp_path: Path
) -> None:
    topic = fresh_name("orders")
    changes = history(3, range(200))
    publish(kafka, topic, *(each.message(topic) for each in changes))
    settings = job(kafka, topic, tmp_path)
    source = settings.kafka.model_copy(update={"max_offsets_per_trigger": 20})
    # the second compiler would take half of the machine for one batch
    soon_warm = "-XX:TieredStopAtLevel=1"
    following = settings.model_copy(
        update={"kafka": source, "trigger_seconds": 0.1, "jvm_options": soon_warm}
    )
    with JobProcess(
        following, tmp_path, sys.executable, "-m", "relay", "dedup", "stream"
    ) as process:
        wait_until(
            lambda: bool(copies_begun(tmp_path)) or not process.running, "the first batch", 120
        )
        process.ask_to_end()
        assert process.wait() == 0, process.errors
        assert re.findall(r"^batch (\d+): 20 rows in", process.output, re.MULTILINE) == ["0"]
    assert noted(tmp_path, "commits") == {"0"}
    assert copies(spark, tmp_path) == truth(changes[:20])


@pytest.fixture
def own_signals() -> Iterator[None]:
    """The job takes signals for itself; the test's come back."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("spark", "own_signals")
@pytest.mark.parametrize("main", [dedup_batch.main, dedup_stream.main], ids=["batch", "stream"])
def test_without_a_broker_the_job_says_so_in_time(
    main: Callable[[Sequence[str]], int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    began = monotonic()
    assert main(["--config", str(configuration(tmp_path, "127.0.0.1:1", "orders"))]) == 1
    assert monotonic() - began < PATIENCE_S + 30
    said = capsys.readouterr().err
    assert said.startswith("No broker answers (orders at 127.0.0.1:1). ")
    assert said.endswith("start again; the job continues at its checkpoint.\n")


@pytest.mark.usefixtures("spark")
def test_a_topic_that_does_not_exist_is_named(
    kafka: Kafka, fresh_name: Callable[[str], str], tmp_path: Path
) -> None:
    there, missing = fresh_name("orders"), fresh_name("orders")
    publish(kafka, there, change(there, "INSERT", "1", 10, id="1", n="x"))
    one = job(kafka, there, tmp_path)
    settings = one.model_copy(
        update={"kafka": one.kafka.model_copy(update={"topics": (there, f"{there}.ddl", missing)})}
    )
    for run in (dedup_batch.run, lambda each: dedup_stream.run(each, Shutdown())):
        with pytest.raises(TopicUnknown) as caught:
            run(settings)
        assert str(caught.value).startswith(
            f"No topic {there}.ddl, {missing} exists at {kafka.bootstrap}, "
        )


def test_a_checkpoint_that_went_back_loses_no_row(
    spark: SparkSession, kafka: Kafka, fresh_name: Callable[[str], str], tmp_path: Path
) -> None:
    """Somebody removes its newest batch to have it read again, and by then the batch of that number
    is a larger one.
    """
    topic = fresh_name("orders")
    settings = job(kafka, topic, tmp_path)
    for key in ("1", "2"):
        publish(kafka, topic, change(topic, "INSERT", key, int(key), id=key))
        drain(settings)
    for what in ("offsets", "commits"):
        for file in (tmp_path / "checkpoint" / what).glob("*1*"):
            file.unlink()
    publish(kafka, topic, change(topic, "INSERT", "3", 3, id="3"))
    drain(settings)
    assert noted(tmp_path, "commits") == {"0", "1"}
    assert sorted(copy_of(spark, tmp_path / "copy")) == ["1", "2", "3"]


def with_one_row(kafka: Kafka, topic: str, folder: Path) -> JobSettings:
    """A job that read a topic of one message to its end."""
    settings = job(kafka, topic, folder)
    publish(kafka, topic, change(topic, "INSERT", "1", 1, id="1"))
    drain(settings)
    return settings


def test_a_checkpoint_is_not_taken_for_other_copies(
    kafka: Kafka, fresh_name: Callable[[str], str], spark: SparkSession, tmp_path: Path
) -> None:
    """They would begin in the middle of the topics, and nobody would see what they lack."""
    settings = with_one_row(kafka, fresh_name("orders"), tmp_path)
    for moved in ({"copy_root": str(tmp_path / "other")}, {"sink": "parquet"}):
        with pytest.raises(
            CheckpointOfOthers,
            match=rf"belongs to copies in delta below file:{tmp_path}/copy, and the ",
        ):
            dedup_stream.start(settings.model_copy(update=moved))
    drain(settings.model_copy(update={"copy_root": f"file://{tmp_path}/copy/"}))
    assert list(copy_of(spark, tmp_path / "copy")) == ["1"]


def make_anew(kafka: Kafka, topic: str, keys: Sequence[int]) -> None:
    """Delete a topic, and make it again with these rows."""
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    admin.delete_topics([topic])[topic].result(60)
    wait_until(lambda: topic not in admin.list_topics(timeout=10).topics, "the end of the topic")
    publish(kafka, topic, *(change(topic, "INSERT", str(key), key, id=str(key)) for key in keys))


@pytest.mark.usefixtures("own_signals")
def test_a_topic_that_is_made_anew_under_the_stream_ends_it_and_its_restarts(
    kafka: Kafka, fresh_name: Callable[[str], str], spark: SparkSession, tmp_path: Path
) -> None:
    """It has the offset of the next batch, and rows before it that no batch would read."""
    topic = fresh_name("orders")
    settings = job(kafka, topic, tmp_path)
    source = settings.kafka.model_copy(update={"max_offsets_per_trigger": 1})
    settings = settings.model_copy(update={"kafka": source})
    for key in "123":
        publish(kafka, topic, change(topic, "INSERT", key, int(key), id=key))
    merge = DeltaSink.merge

    def merge_and_make_anew(sink: DeltaSink, changes: TableBatch, batch: Batch | None) -> Written:
        written = merge(sink, changes, batch)
        if not anew:
            anew.append(topic)
            make_anew(kafka, topic, range(11, 19))
        return written

    anew: list[str] = []
    with (
        patch.object(DeltaSink, "merge", merge_and_make_anew),
        pytest.raises(OffsetsLost, match=rf"^{topic} was created again since the job read it"),
    ):
        dedup_stream.run(settings, Shutdown())
    with pytest.raises(OffsetsLost, match=rf"^{topic} was created again since the job read it"):
        dedup_stream.start(settings)
    assert list(copy_of(spark, tmp_path / "copy")) == ["1"]


@pytest.mark.usefixtures("own_signals")
def test_lost_offsets_end_the_stream_and_leave_the_copy(
    spark: SparkSession, kafka: Kafka, fresh_name: Callable[[str], str], tmp_path: Path
) -> None:
    topic = fresh_name("orders")
    settings = job(kafka, topic, tmp_path)
    publish(kafka, topic, change(topic, "INSERT", "1", 1, id="1"))
    dedup_stream.run(settings, Shutdown())
    publish(kafka, topic, change(topic, "INSERT", "2", 2, id="2"))
    publish(kafka, topic, change(topic, "INSERT", "3", 3, id="3"))
    end = TopicPartition(topic, 0, offset=4)  # each transaction is a row and a marker
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    admin.delete_records([end])[end].result(60)
    with pytest.raises(OffsetsLost, match=rf"has not read \({topic} at "):
        dedup_stream.run(settings, Shutdown())
    assert list(copy_of(spark, tmp_path / "copy")) == ["1"]

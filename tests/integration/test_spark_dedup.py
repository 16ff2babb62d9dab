"""Topics → Delta copies, on a real broker and a real Spark."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import orjson
import pytest
from pyspark.sql import SparkSession

from deploy.embedded import Kafka, spark_environment, spark_jars
from relay.envelope import order_text
from relay.kafka import TopicAdmin, TopicSpec
from relay.model.message import OutboundMessage
from relay.publish import TransactionalProducer
from relay.settings import KafkaSettings, TransactionSettings
from spark_jobs import dedup_batch, dedup_stream
from spark_jobs.session import open_session
from spark_jobs.settings import JobSettings, KafkaSource
from spark_jobs.sinks import DeltaCopies, live_rows

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    os.environ.update(spark_environment())
    source = KafkaSource(bootstrap_servers="127.0.0.1:1", topics=("none",))
    session = open_session(JobSettings(kafka=source, copy_root=tmp_path_factory.mktemp("copy"), jars=spark_jars()), "tests")
    yield session
    session.stop()


def change(topic: str, kind: str, key: str | None, order: int, **data: str | None) -> OutboundMessage:
    """A message as the relay sends it."""
    value = {"data": [data], "database": "shop", "table": "orders", "type": kind}
    headers = (("order", order_text(1_700_000_000_000, order).encode()),)
    return OutboundMessage(topic, 0, None if key is None else f'["shop.orders","{key}"]'.encode(), orjson.dumps(value), headers)


def publish(kafka: Kafka, topic: str, *messages: OutboundMessage, commit: bool = True) -> None:
    settings = KafkaSettings(bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1)
    TopicAdmin(settings).create(TopicSpec(topic, 1, 1))
    with closing(TransactionalProducer(settings, TransactionSettings(), topic)) as producer:
        producer.open()
        for message in messages[:-1]:
            producer.send(message)
        if commit:
            producer.commit(messages[-1]).result(30)
        else:
            producer.send(messages[-1])
            producer.abort()


def job(kafka: Kafka, topic: str, folder: Path) -> JobSettings:
    source = KafkaSource(bootstrap_servers=kafka.bootstrap, topics=(topic,))
    return JobSettings(kafka=source, copy_root=folder / "copy", checkpoint=folder / "checkpoint")


def copy_of(spark: SparkSession, folder: Path) -> dict[str, dict[str, str | None]]:
    path = DeltaCopies(spark, folder / "copy").path("shop.orders")
    return {row["id"]: row.asDict() for row in live_rows(spark.read.format("delta").load(path)).collect()}


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
    assert (figures.changes, figures.keys, figures.deletes, figures.quarantined) == (6, 3, 1, 0)
    assert copy_of(spark, tmp_path) == {"1": {"id": "1", "n": "newest"}, "3": {"id": "3", "n": None}}
    publish(kafka, topic, change(topic, "UPDATE", "2", 45, id="2", n="late"), change(topic, "INSERT", "4", 70, id="4", n="four", new="x"))
    dedup_batch.run(job(kafka, topic, tmp_path))
    assert copy_of(spark, tmp_path)["4"] == {"id": "4", "n": "four", "new": "x"}
    assert "2" not in copy_of(spark, tmp_path)


def test_the_stream_goes_on_at_its_checkpoint_and_sets_poison_apart(
    spark: SparkSession, kafka: Kafka, fresh_name: Callable[[str], str], tmp_path: Path
) -> None:
    topic = fresh_name("orders")
    publish(kafka, topic, change(topic, "INSERT", "1", 10, id="1", n="a"), OutboundMessage(topic, 0, b"k", b"not json", ()))
    settings = job(kafka, topic, tmp_path)
    dedup_stream.start(settings).awaitTermination(90)
    assert copy_of(spark, tmp_path) == {"1": {"id": "1", "n": "a"}}
    publish(kafka, topic, change(topic, "UPDATE", "1", 20, id="1", n="b"), change(topic, "INSERT", None, 30, id="5", n="no key"))
    dedup_stream.start(settings).awaitTermination(90)
    assert copy_of(spark, tmp_path) == {"1": {"id": "1", "n": "b"}}
    bad = spark.read.format("delta").load(str(tmp_path / "copy" / "_quarantine")).select("problem").collect()
    assert len(bad) == 2

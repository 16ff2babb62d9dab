"""Messages as the Spark jobs read them, with and without a broker."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from deploy.embedded import Kafka
from relay.envelope import ColumnRename, order_text, renamed_text
from relay.kafka import TopicAdmin, TopicSpec
from relay.model.message import OutboundMessage
from relay.publish import TransactionalProducer
from relay.settings import KafkaSettings, TransactionSettings
from spark_jobs import dedup_stream
from spark_jobs.apply.apply import Copies
from spark_jobs.config.job import JobSettings, KafkaSource
from spark_jobs.runtime.metrics import JobMetrics
from spark_jobs.sinks import DeltaSink, live_rows
from spark_jobs.spark_util.batch_stats import BatchFigures

_RECORD = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
    ]
)


def change(
    topic: str,
    kind: str,
    key: str | None,
    order: int,
    /,
    *,
    table: str = "orders",
    row: Mapping[str, str | None] | None = None,
    types: Mapping[str, str] | None = None,
    fields: Mapping[str, object] | None = None,
    source: str | None = None,
    real: str | None = None,
    time_ms: int = 1_700_000_000_000,
    **data: str | None,
) -> OutboundMessage:
    """A message as the relay sends it, of the logical table shop.<table>.

    Without `types` all of its columns are text.

    `fields` are added to the value; `source` is the header of that name, `time_ms` the execute
    time. `real` is `instance/real`, the two headers with a slash between them.
    """
    value: dict[str, object] = {
        "data": [{**(row or {}), **data}],
        "database": "shop",
        "table": table,
        "type": kind,
        "mysqlType": types,
    }
    value |= {"pkNames": ["id"] if types else None, **(fields or {})}
    headers = [("order", order_text(time_ms, order).encode())]
    if source is not None:
        headers.append(("source", source.encode()))
    if real is not None:
        instance, _, table_name = real.encode().rpartition(b"/")
        headers += [("instance", instance), ("real", table_name)]
    return OutboundMessage(
        topic,
        0,
        None if key is None else f'["shop.{table}","{key}"]'.encode(),
        orjson.dumps(value),
        tuple(headers),
    )


def batch(*changes: tuple[str, int, str | None]) -> list[OutboundMessage]:
    """Changes (key, order, text) of a table with one text column.

    `gone` deletes; `compacted` is the tombstone that compaction keeps of a delete for a time.
    """
    kinds = {"gone": "DELETE", "compacted": "DELETE"}
    made = [
        change("t", kinds.get(n or "", "UPDATE"), key, order, id=key, n=n)
        for key, order, n in changes
    ]
    return [
        tombstone(message) if n == "compacted" else message
        for message, (_, _, n) in zip(made, changes, strict=True)
    ]


def truncate(
    topic: str, order: int, /, *, real: str | None, table: str = "orders"
) -> OutboundMessage:
    """A TRUNCATE of a real table of shop.<table>, as the relay sends it with full headers."""
    fields = {"isDdl": True, "sql": f"TRUNCATE {table}", "data": None}
    return change(topic, "TRUNCATE", None, order, table=table, real=real, fields=fields)


def renamed(
    topic: str, order: int, /, *, real: str, table: str = "orders", **names: str
) -> OutboundMessage:
    """An ALTER TABLE that renames columns (old=new) of a real table of shop.<table>, as the relay
    sends it with full headers.
    """
    items = ", ".join(f"RENAME COLUMN `{old}` TO `{new}`" for old, new in names.items())
    fields = {"isDdl": True, "sql": f"ALTER TABLE {table} {items}", "data": None}
    message = change(topic, "ALTER", None, order, table=table, real=real, fields=fields)
    text = renamed_text([ColumnRename(old, new) for old, new in names.items()])
    return replace(message, headers=(*message.headers, ("renamed", text.encode("ascii"))))


def tombstone(message: OutboundMessage) -> OutboundMessage:
    """The record without a value that follows a DELETE."""
    return replace(message, value=None)


def publish(kafka: Kafka, topic: str, *messages: OutboundMessage, commit: bool = True) -> None:
    """Send the messages in one Kafka transaction."""
    settings = KafkaSettings(
        bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
    )
    TopicAdmin(settings).create(TopicSpec(topic, 1, 1))
    with closing(TransactionalProducer(settings, TransactionSettings(), topic)) as producer:
        producer.open()
        for message in messages[:-1]:
            producer.send(message)
        if commit:
            producer.commit(messages[-1]).result(60)
        else:
            producer.send(messages[-1])
            producer.abort()


def records(spark: SparkSession, messages: Sequence[OutboundMessage]) -> DataFrame:
    """Return the messages as rows of the Kafka source, without a Python process of Spark: each
    reading of Python's rows would run one.
    """
    now = datetime.now(UTC)
    rows = [
        (each.key, each.value, each.topic, 0, number, now, each.headers)
        for number, each in enumerate(messages)
    ]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in _RECORD]
    return spark.createDataFrame(pa.table(columns, schema=_RECORD))


def copies(spark: SparkSession, root: Path, **settings: object) -> Copies:
    """Return the sink of copies below a folder, without a broker."""
    source = KafkaSource(bootstrap_servers="127.0.0.1:1", topics=("none",))
    return Copies.of(
        spark, JobSettings.model_validate({"kafka": source, "copy_root": str(root), **settings})
    )


def apply(
    spark: SparkSession,
    root: Path,
    *messages: OutboundMessage,
    number: int | None = None,
    again: bool = True,
    **settings: object,
) -> BatchFigures:
    """Apply one batch without a broker."""
    return copies(spark, root, **settings).apply(
        records(spark, messages), "tests", number, again=again
    )


def job(kafka: Kafka, topic: str, folder: Path) -> JobSettings:
    """Return settings of a job over one topic, with all of its files in one folder."""
    source = KafkaSource(bootstrap_servers=kafka.bootstrap, topics=(topic,), patience_seconds=5)
    return JobSettings(
        kafka=source,
        copy_root=str(folder / "copy"),
        checkpoint=str(folder / "checkpoint"),
        shuffle_partitions=1,
    )


def drain(settings: JobSettings, metrics: JobMetrics | None = None, *, within_s: int = 90) -> None:
    """Continue the stream from its checkpoint in this process until its topics are read."""
    assert dedup_stream.start(settings, metrics=metrics).awaitTermination(within_s), (
        f"the stream did not end within {within_s} s"
    )


def copy_of(spark: SparkSession, root: Path, table: str = "orders") -> dict[Any, dict[str, Any]]:
    """Return the live rows of shop.<table> by id."""
    path = DeltaSink(spark, root).path(f"shop.{table}")
    return {
        row["id"]: row.asDict()
        for row in live_rows(spark.read.format("delta").load(path)).collect()
    }

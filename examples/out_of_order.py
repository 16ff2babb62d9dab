# %% [markdown]
# # An exact copy from messages that come in the wrong order
#
# The table `test.lyf_canal_test` sees an insert (A) and two updates (B, then C). The messages
# arrive as A, C, B. The copy must end at C.
#
# Nothing has to be started: the messages are made here, in the form in which the relay publishes
# them, and handed to the same code that
# `roma dedup stream` runs for each batch of a topic. Run it whole with `python
# examples/out_of_order.py`, or cell by cell in an editor
# that knows `# %%`. It needs `pip install 'roma-relay[spark]'` and a JDK 17 or 21.

# %% What the relay publishes
import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import DataFrame

from relay.envelope import order_text
from spark_jobs.apply.apply import Copies
from spark_jobs.config.job import JobSettings, KafkaSource
from spark_jobs.runtime.spark_session import open_spark
from spark_jobs.sinks import live_rows

FOLDER = Path(tempfile.mkdtemp(prefix="roma-example-"))
KAFKA = KafkaSource(
    bootstrap_servers="127.0.0.1:9092", topics=("test",)
)  # named, but not read here
SETTINGS = JobSettings(kafka=KAFKA, copy_root=str(FOLDER / "exact"), shuffle_partitions=2)
spark = open_spark(SETTINGS, "example")
COLUMNS = {"id": "int", "name": "varchar(32)", "amount": "decimal(10,2)", "updated_at": "timestamp"}


def message(
    kind: str, name: str, amount: str, *, began: int, position: int, offset: int
) -> tuple[object, ...]:
    """A Kafka record of one change of the row with id 1.

    `began`: second at which its statement began, the only time in the binlog's header.
    `position`: the relay's execute position, which rises with every row. `offset`: the offset
    of its event in the binlog.
    """
    row = {"id": "1", "name": name, "amount": amount, "updated_at": f"2026-01-01 00:00:{began:02}"}
    table = {"database": "test", "table": "lyf_canal_test", "mysqlType": COLUMNS, "pkNames": ["id"]}
    value = {**table, "type": kind, "es": began * 1000, "data": [row]}
    headers = [
        ("order", order_text(1_767_225_600_000, position).encode()),
        ("source", f"1:binlog.000001:{offset}".encode()),
    ]
    return (
        b'["test.lyf_canal_test","1"]',
        json.dumps(value).encode(),
        "test",
        0,
        position,
        datetime.now(UTC),
        headers,
    )


A = message("INSERT", "A", "10.00", began=1, position=1, offset=400)
B = message("UPDATE", "B", "20.00", began=9, position=2, offset=500)
# C waited for B's row lock: its statement began earlier, and it was committed later. It is what the
# source shows in the end.
C = message("UPDATE", "C", "30.00", began=5, position=3, offset=600)


def records(*messages: tuple[object, ...]) -> DataFrame:
    """Return the messages in the columns of Spark's Kafka source."""
    headers = "headers array<struct<key: string, value: binary>>"
    place = "topic string, partition int, offset bigint, timestamp timestamp"
    return spark.createDataFrame(list(messages), f"key binary, value binary, {place}, {headers}")


def show(step: str, copies: Copies) -> None:
    """Print the rows of the copy."""
    copy = copies.sink.read("test.lyf_canal_test")
    rows = [] if copy is None else live_rows(copy).collect()
    print(f"{step}: " + (", ".join(f"{row['name']} {row['amount']}" for row in rows) or "no row"))


# %% A, C, B, one batch each
exact = Copies.of(spark, SETTINGS)
for number, (step, each) in enumerate(
    {"A inserted": A, "C arrived before B": C, "B arrived late": B}.items()
):
    figures = exact.apply(records(each), "example", number)
    show(f"{step} ({figures.winners} written, {figures.stale} stale)", exact)

# %% The same messages again, all in one batch: nothing changes
exact.apply(records(B, A, C, B), "example", 3)
show("all again in one batch", exact)

# %% What the copy holds: types of the table, and the guards that decide
copy = exact.sink.read("test.lyf_canal_test")
assert copy is not None
copy.printSchema()
copy.show(truncate=False)

# %% The classic rule with the binlog's own times
#
# `es` is when a statement began. By it, B (second 9) is newer than C (second 5), and the copy ends
# at a value that the source has left.
raw = Copies.of(
    spark, SETTINGS.model_copy(update={"copy_root": str(FOLDER / "raw"), "raw_rule": True})
)
for number, each in enumerate((A, C, B)):
    raw.apply(records(each), "example", number)
show("by es and binlog offset", raw)

# %% A delete stays a delete
D = message("DELETE", "C", "30.00", began=12, position=4, offset=700)
exact.apply(records(D), "example", 4)
show("deleted", exact)
exact.apply(records(B), "example", 5)
show("B arrived once more", exact)

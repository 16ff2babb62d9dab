"""One run: a topic of changes, a job with its folder, and the copy that it must end with."""

import random
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from deploy.embedded import Kafka, hbase_client_jars, spark_jars
from relay.model.message import OutboundMessage
from spark_jobs.config.job import JobSettings
from spark_jobs.sinks import live_rows, open_sink
from tests.support.copies.spark_copies import change, publish

_KINDS: Final = ("INSERT", "UPDATE", "UPDATE", "DELETE")
_MESSAGES: Final = 4000
_KEYS: Final = 700
_BATCH: Final = 1000
Copy = dict[str, str | None]


@dataclass(frozen=True, slots=True)
class Stage:
    """`truth`: id → value of every row that the source has."""

    settings: JobSettings
    folder: Path
    truth: Copy

    def copy(self, spark: SparkSession) -> Copy:
        """Return the rows of the copy."""
        found = open_sink(spark, self.settings).read("shop.orders")
        return {} if found is None else {row["id"]: row["n"] for row in live_rows(found).collect()}


@contextmanager
def stage(kafka: Kafka, name: str, seed: int, sink: Mapping[str, Any]) -> Iterator[Stage]:
    """Fill a topic with changes of random kinds in random order, some of them twice."""
    chance = random.Random(seed)
    history = [
        (order, str(chance.randrange(_KEYS)), chance.choice(_KINDS))
        for order in range(1, _MESSAGES + 1)
    ]
    newest = {key: (order, kind) for order, key, kind in history}
    arriving = chance.sample(history, len(history)) + chance.choices(history, k=_MESSAGES // 10)
    publish(kafka, name, *(_message(name, *each) for each in arriving))
    with tempfile.TemporaryDirectory(prefix="roma-faults-", ignore_cleanup_errors=True) as folder:
        source = {
            "bootstrap_servers": kafka.bootstrap,
            "topics": (name,),
            "patience_seconds": 20,
            "max_offsets_per_trigger": _BATCH,
        }
        jars = spark_jars() + hbase_client_jars()
        place = {
            "copy_root": f"{folder}/copy",
            "checkpoint": f"{folder}/checkpoint",
            "shuffle_partitions": 2,
            "jars": jars,
        }
        settings = JobSettings.model_validate({"kafka": source, **place, **sink})
        yield Stage(
            settings,
            Path(folder),
            {key: str(order) for key, (order, kind) in newest.items() if kind != "DELETE"},
        )


def _message(topic: str, order: int, key: str, kind: str) -> OutboundMessage:
    return change(topic, kind, key, order, id=key, n=str(order))

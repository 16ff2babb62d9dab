"""Kills the process of the dedup stream at random moments: `python -m tools.faults.driver_kills`.

Each round publishes changes, many of them late, and starts the job, which applies them in small
batches. It kills the job and its JVM (SIGKILL to the process group) at a moment that depends on the
seed. Then the stream finishes from its checkpoint. After that the copies must equal the expected
rows, which are computed from all published changes.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Final

from pyspark.sql import SparkSession

from deploy.embedded import Kafka, spark_environment, spark_jars
from deploy.embedded.fetching.progress import say
from spark_jobs.config.job import JobSettings, KafkaSource
from spark_jobs.runtime.spark_session import open_spark
from tests.support.copies.checkpoint import begun, cut_off
from tests.support.copies.job_process import JobProcess
from tests.support.copies.spark_copies import drain, publish
from tests.support.copies.spark_histories import Change, copies_below, history, truth
from tests.support.waiting import wait_until
from tools.faults.revival import start_again

_TOPIC: Final = "orders"
_CHANGES: Final = 600
_BATCH_OFFSETS: Final = 60
_LATE: Final = 100
"""Orders of a round begin so much below the end of the round before."""
_START_S: Final = 120
_END_S: Final = 300
_MOMENTS_S: Final = (0.0, 6.0)
"""Seconds until the kill, from the first batch in the checkpoint."""


@dataclass(frozen=True, slots=True)
class Round:
    """The result of a round.

    after_s  seconds from the first batch until the kill
    cut_off  number of batches that were begun and not completed at the kill
    exact    whether the copies were as expected afterwards
    """

    after_s: float
    cut_off: int
    exact: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Return 0 if the copies were as expected after every round."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.faults.driver_kills", description=__doc__
    )
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.environ.update(spark_environment())
    with tempfile.TemporaryDirectory() as folder, Kafka() as kafka:
        settings = _settings(kafka, Path(folder))
        rounds = _rounds(kafka, settings, Path(folder), given.times, random.Random(given.seed))
    wrong = sum(not each.exact for each in rounds)
    say(
        f"{len(rounds)} kills, {sum(each.cut_off for each in rounds)} of them within a batch, "
        f"copies wrong after {wrong}"
    )
    return 1 if wrong else 0


def _in_small_batches(settings: JobSettings) -> JobSettings:
    """Return the settings of the process: small batches, so that the kill occurs during one of
    many.
    """
    kafka = settings.kafka.model_copy(update={"max_offsets_per_trigger": _BATCH_OFFSETS})
    return settings.model_copy(update={"trigger_seconds": 0.1, "kafka": kafka})


def _settings(kafka: Kafka, folder: Path) -> JobSettings:
    source = KafkaSource(bootstrap_servers=kafka.bootstrap, topics=(_TOPIC,))
    return JobSettings(
        kafka=source,
        copy_root=str(folder / "copy"),
        checkpoint=str(folder / "checkpoint"),
        shuffle_partitions=2,
        jars=spark_jars(),
        history=True,
    )


def _rounds(
    kafka: Kafka, settings: JobSettings, folder: Path, times: int, chance: random.Random
) -> Sequence[Round]:
    spark = open_spark(settings, "driver kills")
    done: list[Round] = []
    published: list[Change] = []
    try:
        for number in range(times):
            start_again([kafka])
            first = max(0, number * _CHANGES - _LATE)
            changes = history(chance.randrange(2**32), range(first, (number + 1) * _CHANGES))
            published += changes
            publish(kafka, _TOPIC, *(each.message(_TOPIC) for each in changes))
            done.append(_round(spark, settings, folder, published, chance.uniform(*_MOMENTS_S)))
            say(f"round {number + 1}: {done[-1]}")
    finally:
        spark.stop()
    return done


def _round(
    spark: SparkSession,
    settings: JobSettings,
    folder: Path,
    published: Sequence[Change],
    after_s: float,
) -> Round:
    before = begun(settings)
    with JobProcess(_in_small_batches(settings), folder) as process:
        wait_until(lambda: begun(settings) > before or not process.running, "a batch", _START_S)
        kill_at = monotonic() + after_s
        wait_until(lambda: monotonic() >= kill_at or not process.running, "the moment", _START_S)
        process.kill()
    unfinished = cut_off(settings)
    drain(settings, within_s=_END_S)
    return Round(
        after_s, unfinished, copies_below(spark, Path(settings.copy_root)) == truth(published)
    )


if __name__ == "__main__":
    sys.exit(main())

"""Keep the copies up with the topics: `python -m spark_jobs.dedup_stream --config job.toml`."""

import signal
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql.streaming import StreamingQuery

from spark_jobs.apply import apply_batch
from spark_jobs.errors import JobConfigurationError, JobError
from spark_jobs.kafka_source import read_stream
from spark_jobs.session import open_session
from spark_jobs.settings import JobSettings, load_settings
from spark_jobs.sinks import DeltaCopies


def start(settings: JobSettings) -> StreamingQuery:
    """Start the stream where its checkpoint says; a batch that a crash cut off is applied again, which changes nothing."""
    if settings.checkpoint is None:
        raise JobConfigurationError("A stream needs checkpoint: a folder that belongs to this job alone.")
    spark = open_session(settings, "roma-dedup-stream")
    copies = DeltaCopies(spark, settings.copy_root)

    def apply(records: DataFrame, number: int) -> None:
        sys.stdout.write(f"batch {number}: {apply_batch(records, copies)}\n")
        sys.stdout.flush()

    writer = read_stream(spark, settings.kafka).writeStream.foreachBatch(apply).option("checkpointLocation", str(settings.checkpoint))
    if settings.trigger_seconds is None:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=f"{settings.trigger_seconds} seconds").start()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; SIGTERM ends the stream after the batch that runs."""
    parser = ArgumentParser(prog="dedup_stream", description=__doc__)
    parser.add_argument("--config", type=Path, required=True)
    try:
        query = start(load_settings(parser.parse_args(arguments).config))
    except JobError as exc:
        sys.stderr.write(f"{exc}\n")
        return 1
    signal.signal(signal.SIGTERM, lambda _number, _frame: query.stop())
    query.awaitTermination()
    return 0


if __name__ == "__main__":
    sys.exit(main())

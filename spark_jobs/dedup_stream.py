"""Keep the copies up with the topics: `python -m spark_jobs.dedup_stream --config job.toml`."""

import sys
from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql.streaming import StreamingQuery

from spark_jobs.apply import apply_batch
from spark_jobs.border import named_errors
from spark_jobs.command_line import read_arguments
from spark_jobs.ending import Ending
from spark_jobs.errors import JobConfigurationError, JobError
from spark_jobs.kafka_source import place_of, read_stream
from spark_jobs.report import print_batch, print_error
from spark_jobs.session import open_session
from spark_jobs.settings import JobSettings, load_settings
from spark_jobs.sinks import DeltaCopies


def start(settings: JobSettings, ending: Ending | None = None, *, trace: bool = False) -> StreamingQuery:
    """Start the stream where its checkpoint says; a batch that a crash cut off is applied again, which changes nothing.

    What ends the query later is raised by its `awaitTermination` in Spark's words; `run` has the job's own.
    """
    if settings.checkpoint is None:
        raise JobConfigurationError("A stream needs checkpoint: a folder that belongs to this job alone.")
    ending = ending or Ending()
    spark = open_session(settings, "roma-dedup-stream", trace=trace)
    copies = DeltaCopies(spark, settings.copy_root)

    def apply(records: DataFrame, number: int) -> None:
        with ending.batch():
            print_batch(f"batch {number}", apply_batch(records, copies, settings.merge_threads))

    writer = read_stream(spark, settings.kafka).writeStream.foreachBatch(apply).option("checkpointLocation", settings.checkpoint)
    if settings.trigger_seconds is None:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=f"{settings.trigger_seconds} seconds").start()


def run(settings: JobSettings, ending: Ending, *, trace: bool = False) -> None:
    """Keep the copies up until the topics are read (without trigger_seconds) or the end is asked for. Raises JobError."""
    with named_errors(place_of(settings.kafka)):
        query = start(settings, ending, trace=trace)
        ending.listen()
        ending.watch(query)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; SIGTERM and SIGINT end the job after the batch that runs, exit code 1 comes with a sentence."""
    given = read_arguments("dedup_stream", __doc__, arguments)
    ending = Ending()
    ending.listen()
    try:
        run(load_settings(given.config), ending, trace=given.trace)
    except JobError as exc:
        print_error(exc, trace=given.trace)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

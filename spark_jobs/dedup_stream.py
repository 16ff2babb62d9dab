"""Keep the copies up to date: `python -m spark_jobs.dedup_stream --config job.toml`."""

import sys
from collections.abc import Callable, Sequence
from functools import cache, partial

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from spark_jobs.apply.apply import Copies
from spark_jobs.config.job import JobSettings
from spark_jobs.errors import JobConfigurationError
from spark_jobs.kafka.source import check_statements, place_of, read_stream
from spark_jobs.kafka.stream_checkpoint import check_copies, check_topics, newest_batch, stream_id
from spark_jobs.runtime.arguments import read_arguments
from spark_jobs.runtime.metrics import JobMetrics, served_metrics
from spark_jobs.runtime.shutdown import Shutdown
from spark_jobs.runtime.spark_session import open_spark
from spark_jobs.spark_util.batch_stats import BatchFigures
from spark_jobs.spark_util.error_translation import named_errors
from spark_jobs.spark_util.progress import Piece, Progress
from spark_jobs.spark_util.report import (
    batch_line,
    exit_code_of,
    print_batch,
    print_line,
    results,
)

ShowBatch = Callable[[int, BatchFigures], None]
"""Shows the figures of a batch that was applied, by its number."""


def start(
    settings: JobSettings,
    shutdown: Shutdown | None = None,
    metrics: JobMetrics | None = None,
    *,
    trace: bool = False,
    show: ShowBatch = print_batch,
) -> StreamingQuery:
    """Start the stream at the position of its checkpoint, and return Spark's query.

    A batch that a crash interrupted is applied again, which changes nothing. Later errors of the
    query are raised by its `awaitTermination` as Spark's errors; `run` raises the job's own.

    shutdown  a request to stop; None: the stream cannot be stopped gracefully
    metrics   counts the batches until it is removed from the session; None: no metrics
    trace     show Spark's log of errors
    """
    if settings.checkpoint is None:
        raise JobConfigurationError(
            "A stream needs the setting checkpoint: a folder that only this job uses."
        )
    spark = open_spark(
        settings, "roma-dedup-stream", trace=trace, lasts=settings.trigger_seconds is not None
    )
    check_topics(spark, settings.kafka, settings.checkpoint)
    check_copies(spark, settings, settings.checkpoint)
    if settings.truncate == "follow":
        check_statements(spark, settings.kafka)
    if metrics is not None:
        spark.streams.addListener(metrics)
    shutdown = shutdown or Shutdown()
    apply = _batches(spark, settings, settings.checkpoint, shutdown, metrics, show)
    stream = (
        read_stream(spark, settings.kafka)
        .writeStream.foreachBatch(apply)
        .option("checkpointLocation", settings.checkpoint)
    )
    if settings.trigger_seconds is None:
        return stream.trigger(availableNow=True).start()
    return stream.trigger(processingTime=f"{settings.trigger_seconds} seconds").start()


def _batches(
    spark: SparkSession,
    settings: JobSettings,
    checkpoint: str,
    shutdown: Shutdown,
    metrics: JobMetrics | None,
    show: ShowBatch,
) -> Callable[[DataFrame, int], None]:
    """Return the function that processes each batch."""
    copies = Copies.of(spark, settings)
    begun = newest_batch(spark, checkpoint)
    writer = cache(partial(stream_id, spark, checkpoint))  # Spark notes it when the stream starts

    def apply(records: DataFrame, number: int) -> None:
        with (
            shutdown.batch(),
            Progress(say=print_line) as shown,
            shown.piece(Piece(f"batch {number}")) as piece,
        ):
            if metrics is not None:
                metrics.began(piece)
            check_topics(spark, settings.kafka, checkpoint)  # the batch may be of another topic
            figures = copies.apply(records, writer(), number, again=number <= begun, piece=piece)
        show(number, figures)
        if metrics is not None:
            metrics.began(None)
            metrics.applied(number, figures)

    return apply


def run(
    settings: JobSettings,
    shutdown: Shutdown,
    *,
    trace: bool = False,
    show: ShowBatch = print_batch,
) -> None:
    """Update the copies until the job is asked to stop.

    Without `trigger_seconds` it also ends when all present messages are applied. Raises JobError.
    """
    with named_errors(place_of(settings.kafka)), served_metrics(settings) as metrics:
        query = start(settings, shutdown, metrics, trace=trace, show=show)
        shutdown.listen()
        shutdown.watch(query)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Return 0, or 1 after the error was printed as a sentence.

    SIGTERM and SIGINT end the job after the present batch.
    """
    given = read_arguments("dedup stream", __doc__, arguments)
    shutdown = Shutdown()
    shutdown.listen()

    def job() -> None:
        with results(as_json=given.as_json) as say:
            show: ShowBatch = (
                (lambda number, figures: say(batch_line(number, figures)))
                if given.as_json
                else print_batch
            )
            run(given.settings(), shutdown, trace=given.trace, show=show)

    return exit_code_of(job, trace=given.trace)


if __name__ == "__main__":
    sys.exit(main())

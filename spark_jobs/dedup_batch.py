"""Apply the current messages of the topics, or a range of them, to the copies once: `python -m
spark_jobs.dedup_batch --config job.toml`.
"""

import sys
from collections.abc import Sequence

from spark_jobs.apply.apply import Copies
from spark_jobs.config.job import JobSettings
from spark_jobs.kafka.source import Bounds, check_statements, place_of, read_batch, topic_ids
from spark_jobs.runtime.arguments import read_arguments
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


def run(
    settings: JobSettings, bounds: Bounds | None = None, *, trace: bool = False
) -> BatchFigures:
    """Read all topics, or the messages within `bounds`, and apply the newest change of each key.

    Returns the counts of the batch. `trace` shows Spark's log of errors. Raises JobError.
    """
    with named_errors(place_of(settings.kafka)):
        spark = open_spark(settings, "roma-dedup-batch", trace=trace)
        copies = Copies.of(spark, settings.model_copy(update={"tidy_minutes": 0}))
        topic_ids(spark, settings.kafka)  # a topic that is missing is named before anything is read
        if settings.truncate == "follow":
            check_statements(spark, settings.kafka)
        records = read_batch(spark, settings.kafka, bounds)
        with Progress(say=print_line) as shown, shown.piece(Piece("batch")) as piece:
            return copies.apply(records, "dedup_batch", piece=piece)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Return 0, or 1 after the error was printed as a sentence."""
    given = read_arguments("dedup batch", __doc__, arguments, bounded=True)

    def job() -> None:
        with results(as_json=given.as_json) as say:
            figures = run(given.settings(), given.bounds, trace=given.trace)
            say(batch_line(None, figures)) if given.as_json else print_batch(None, figures)

    return exit_code_of(job, trace=given.trace)


if __name__ == "__main__":
    sys.exit(main())

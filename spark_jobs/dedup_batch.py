"""Bring the copies up to what the topics hold now, or a range of it, once: `python -m spark_jobs.dedup_batch --config job.toml`."""

import sys
from collections.abc import Sequence

from spark_jobs.apply import Copies
from spark_jobs.border import named_errors
from spark_jobs.command_line import read_arguments
from spark_jobs.errors import JobError
from spark_jobs.figures import BatchFigures
from spark_jobs.kafka_source import Bounds, place_of, read_batch
from spark_jobs.report import print_batch, print_error
from spark_jobs.session import open_session
from spark_jobs.settings import JobSettings


def run(settings: JobSettings, bounds: Bounds | None = None, *, trace: bool = False) -> BatchFigures:
    """Read every topic, whole or within bounds, and apply the newest change of each key. Raises JobError."""
    with named_errors(place_of(settings.kafka)):
        spark = open_session(settings, "roma-dedup-batch", trace=trace)
        return Copies.of(spark, settings).apply(read_batch(spark, settings.kafka, bounds), "dedup_batch")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; exit code 1 with a sentence when the job cannot be done."""
    given = read_arguments("dedup_batch", __doc__, arguments, bounded=True)
    try:
        print_batch("batch", run(given.settings(), given.bounds, trace=given.trace))
    except JobError as exc:
        print_error(exc, trace=given.trace)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Bring the copies up to what is committed in the topics now, once: `python -m spark_jobs.dedup_batch --config job.toml`."""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from spark_jobs.apply import BatchFigures, apply_batch
from spark_jobs.errors import JobError
from spark_jobs.kafka_source import read_batch
from spark_jobs.session import open_session
from spark_jobs.settings import JobSettings, load_settings
from spark_jobs.sinks import DeltaCopies


def run(settings: JobSettings) -> BatchFigures:
    """Read every topic whole and merge the newest change of each key."""
    spark = open_session(settings, "roma-dedup-batch")
    return apply_batch(read_batch(spark, settings.kafka), DeltaCopies(spark, settings.copy_root))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = ArgumentParser(prog="dedup_batch", description=__doc__)
    parser.add_argument("--config", type=Path, required=True)
    try:
        figures = run(load_settings(parser.parse_args(arguments).config))
    except JobError as exc:
        sys.stderr.write(f"{exc}\n")
        return 1
    sys.stdout.write(f"{figures}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

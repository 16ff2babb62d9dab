"""The printed output of the jobs."""

import sys
import traceback

from spark_jobs.errors import JobError
from spark_jobs.spark_util.batch_stats import BatchFigures


def print_batch(name: str, figures: BatchFigures) -> None:
    """Print one line of figures, and one for each reason of quarantined messages."""
    lines = [
        f"{name}: {figures}",
        *(
            f"{name}: put aside {count}: {reason}"
            for reason, count in sorted(figures.problems.items())
        ),
    ]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def print_line(line: str) -> None:
    """Print a line at once, for whoever watches."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def print_notice(line: str) -> None:
    """Print a line that belongs to no result."""
    sys.stderr.write(f"{line}\n")


def print_error(error: JobError, *, trace: bool) -> None:
    """Print the sentence, and on request Spark's whole error."""
    if trace:
        traceback.print_exception(error)
    sys.stderr.write(f"{error}\n")

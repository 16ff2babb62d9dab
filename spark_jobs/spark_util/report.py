"""The printed output of the jobs."""

import sys
import traceback
from collections.abc import Callable

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
    """Print a line and flush it, so that a reader sees it immediately."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def print_notice(line: str) -> None:
    """Print a line to the standard error, apart from results."""
    sys.stderr.write(f"{line}\n")


def exit_code_of(job: Callable[[], object], *, trace: bool) -> int:
    """Run a job; return 0, or 1 after its JobError was printed as a sentence.

    trace  also print Spark's whole error
    """
    try:
        job()
    except JobError as exc:
        print_error(exc, trace=trace)
        return 1
    return 0


def print_error(error: JobError, *, trace: bool) -> None:
    """Print the error as a sentence; with `trace` also Spark's whole error."""
    if trace:
        traceback.print_exception(error)
    sys.stderr.write(f"{error}\n")

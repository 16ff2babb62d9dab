"""The printed output of the jobs."""

import json
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout

from spark_jobs.errors import JobError
from spark_jobs.spark_util.batch_stats import BatchFigures


@contextmanager
def results(*, as_json: bool) -> Iterator[Callable[[str], None]]:
    """Context manager: yield the function that prints a line of the result to standard output.

    With `as_json`, all other lines of this process go to standard error.
    """
    output = sys.stdout

    def say(line: str) -> None:
        output.write(f"{line}\n")
        output.flush()

    if not as_json:
        yield say
        return
    with redirect_stdout(sys.stderr):
        yield say


def batch_line(number: int | None, figures: BatchFigures) -> str:
    """Return the figures as one line of JSON. `number`: None if the job applies one batch."""
    return json.dumps({"batch": number, **figures.to_fields()}, ensure_ascii=False)


def print_batch(number: int | None, figures: BatchFigures) -> None:
    """Print a line with the counts of a batch, and one for each reason of quarantined messages.

    `name` is the name of the batch.
    """
    name = "batch" if number is None else f"batch {number}"
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
    """Print a line on standard output and flush it, so that a reader sees it immediately."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def print_notice(line: str) -> None:
    """Print a line on standard error, separate from results."""
    sys.stderr.write(f"{line}\n")


def exit_code_of(job: Callable[[], object], *, trace: bool) -> int:
    """Run a job. Return 0, or 1 after its JobError was printed as a sentence.

    `trace`: also print Spark's whole error.
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

"""Prints the results and errors of the jobs."""

import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from functools import partial
from typing import Final, TextIO

from spark_jobs.errors import JobError
from spark_jobs.spark_util.batch_stats import BatchFigures

_OUTPUT: Final = 1
_ERRORS: Final = 2
"""The descriptors of standard output and standard error."""


@contextmanager
def results(*, as_json: bool) -> Iterator[Callable[[str], None]]:
    """Context manager: yield the function that prints a line of the result to standard output.

    With `as_json`, all other lines go to standard error. Enter it before Spark starts, because
    Spark's JVM inherits this process's outputs, and Delta prints lines to standard output.
    """
    with _kept_output() if as_json else nullcontext(sys.stdout) as output:
        yield partial(print_line, output=output)


@contextmanager
def _kept_output() -> Iterator[TextIO]:
    """Context manager: yield standard output, which nothing else can write to meanwhile."""
    before = sys.stdout
    before.flush()
    is_own = _writes_to(before, _OUTPUT)
    kept = os.dup(_OUTPUT)
    os.dup2(_ERRORS, _OUTPUT)
    try:
        with (
            open(kept, "w", encoding="utf-8", closefd=False) as file,
            redirect_stdout(sys.stderr),
        ):
            yield file if is_own else before
    finally:
        os.dup2(kept, _OUTPUT)
        os.close(kept)


def _writes_to(stream: TextIO, descriptor: int) -> bool:
    """Return whether a stream writes to this descriptor; False for one in memory."""
    try:
        return stream.fileno() == descriptor
    except OSError:  # io.UnsupportedOperation
        return False


def batch_line(number: int | None, figures: BatchFigures) -> str:
    """Return the figures as one line of JSON. `number`: None if the job applies one batch."""
    return json.dumps({"batch": number, **figures.to_fields()}, ensure_ascii=False)


def print_batch(number: int | None, figures: BatchFigures) -> None:
    """Print a line with the counts of a batch, and one for each reason of quarantined messages.

    `number`: None if the job applies one batch.
    """
    name = "batch" if number is None else f"batch {number}"
    lines = [
        f"{name}: {figures}",
        *(
            f"{name}: put aside {count}: {reason}"
            for reason, count in sorted(figures.problems.items())
        ),
    ]
    print_line("\n".join(lines))


def print_line(line: str, output: TextIO | None = None) -> None:
    """Print a line and flush it, so that a reader sees it immediately.

    output  where it is printed; None: standard output
    """
    output = output or sys.stdout
    output.write(f"{line}\n")
    output.flush()


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

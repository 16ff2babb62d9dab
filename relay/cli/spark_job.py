"""Runs a Spark job as the main module of this process.

The jobs are a separate package, which the relay does not need.
"""

import runpy
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Annotated, Final, TypeAlias

import typer

_JOBS = "spark_jobs"

AS_GIVEN: Final = {
    "ignore_unknown_options": True,
    "allow_extra_args": True,
    "help_option_names": [],
}
"""Click settings of a command that passes all options, also --help, to the job."""
JobOptions: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="--config FILE [OPTIONS]", help="Options of the job; --help shows them."
    ),
]


def become(job: str, options: Sequence[str] | None) -> None:
    """Run the job `job` with these options as the main module of this process. The job then
    receives the signals, and determines the output and the exit code.
    """
    if find_spec("pyspark") is None or find_spec(_JOBS) is None:
        typer.echo(
            "The Spark jobs are not installed here. Install them with: pip install "
            "'roma-relay[spark]'",
            err=True,
        )
        raise typer.Exit(2)
    sys.argv = [job, *(options or [])]
    runpy.run_module(f"{_JOBS}.{job}", run_name="__main__", alter_sys=True)

"""`roma dedup`: the Spark jobs on one machine. They are a package of their own, which the relay does not need to run."""

import runpy
import sys
from importlib.util import find_spec
from typing import Annotated

import typer

from relay.cli.root import app

_JOBS = "spark_jobs"
dedup = typer.Typer(no_args_is_help=True, help="Exact copies of tables, by Spark.")
app.add_typer(dedup, name="dedup")
_OPTIONS = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
Rest = Annotated[list[str] | None, typer.Argument(metavar="--config FILE [OPTIONS]", help="Options of the job; --help shows them.")]


@dedup.command(context_settings=_OPTIONS)
def stream(options: Rest = None) -> None:
    """Keep the copies up with the topics."""
    _run("dedup_stream", options)


@dedup.command(context_settings=_OPTIONS)
def batch(options: Rest = None) -> None:
    """Bring the copies up to what the topics hold now, or to a range of it, once."""
    _run("dedup_batch", options)


def _run(job: str, options: list[str] | None) -> None:
    """Become the job: its signals, its output and its exit code are those of this process."""
    if find_spec("pyspark") is None or find_spec(_JOBS) is None:
        typer.echo("The Spark jobs are not installed here. Install them with: pip install 'roma-relay[spark]'", err=True)
        raise typer.Exit(2)
    sys.argv = [job, *(options or [])]
    runpy.run_module(f"{_JOBS}.{job}", run_name="__main__", alter_sys=True)

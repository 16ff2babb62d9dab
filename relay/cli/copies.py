"""`roma bootstrap` and `roma reconcile`: the first copy of existing tables, and the proof that copies equal their sources."""

from typing import Annotated, Final

import typer

from relay.cli.root import app
from relay.cli.spark_job import become

_OPTIONS: Final = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
Rest = Annotated[list[str] | None, typer.Argument(metavar="--config FILE [OPTIONS]", help="Options of the job; --help shows them.")]


@app.command(context_settings=_OPTIONS)
def bootstrap(options: Rest = None) -> None:
    """Copy existing tables for the first time, beside the running stream."""
    become("bootstrap", options)


@app.command(context_settings=_OPTIONS)
def reconcile(options: Rest = None) -> None:
    """Prove that the copies equal the sources, or list what differs. Exit code 0: equal, 1: different, 2: it could not be told."""
    become("reconcile", options)

"""`roma dedup`: the Spark jobs on one machine."""

from typing import Annotated

import typer

from relay.cli.root import app
from relay.cli.spark_job import become

dedup = typer.Typer(no_args_is_help=True, help="Exact copies of tables, by Spark.")
app.add_typer(dedup, name="dedup")
_OPTIONS = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
Rest = Annotated[list[str] | None, typer.Argument(metavar="--config FILE [OPTIONS]", help="Options of the job; --help shows them.")]


@dedup.command(context_settings=_OPTIONS)
def stream(options: Rest = None) -> None:
    """Keep the copies up with the topics."""
    become("dedup_stream", options)


@dedup.command(context_settings=_OPTIONS)
def batch(options: Rest = None) -> None:
    """Bring the copies up to what the topics hold now, or to a range of it, once."""
    become("dedup_batch", options)

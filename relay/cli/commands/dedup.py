"""`roma dedup`: the Spark jobs on one machine."""

import typer

from relay.cli.root import app
from relay.cli.spark_job import AS_GIVEN, JobOptions, become

dedup = typer.Typer(no_args_is_help=True, help="Exact copies of tables, by Spark.")
app.add_typer(dedup, name="dedup")


@dedup.command(context_settings=AS_GIVEN)
def stream(options: JobOptions = None) -> None:
    """Keep the copies up to date with the topics."""
    become("dedup_stream", options)


@dedup.command(context_settings=AS_GIVEN)
def batch(options: JobOptions = None) -> None:
    """Apply the current messages of the topics, or a range of them, to the copies once."""
    become("dedup_batch", options)

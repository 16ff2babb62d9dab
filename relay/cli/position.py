"""`roma position`: positions and the order pair."""

import typer

from relay.cli.root import app

position = typer.Typer(no_args_is_help=True, help="Positions and the order pair.")
app.add_typer(position, name="position")


@position.command("decode")
def decode(number: int) -> None:
    """Print the parts of an execute position."""
    from relay.order import decompose

    parts = decompose(number)
    typer.echo(f"epoch {parts.epoch}, binlog file number {parts.file_number}, offset {parts.offset}")

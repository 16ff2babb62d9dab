"""`roma mapping`: mapping documents, without a server."""

from pathlib import Path
from typing import Annotated

import typer

from relay.cli.root import app, told_errors

mapping = typer.Typer(no_args_is_help=True, help="Mapping documents.")
app.add_typer(mapping, name="mapping")


@mapping.command("check")
def check_mapping(files: Annotated[list[Path], typer.Argument(help="The JSON documents, or folders that hold them.")]) -> None:
    """Compile mapping documents together, without a server. Exit code 0: they can come into force; 1: not; 2: no such files."""
    with told_errors():
        from relay.route import problems, read_mapping_files

        documents = read_mapping_files(files)
        found = problems(documents)
        for problem in found:
            typer.echo(f"{problem.data_id} at {problem.pointer or 'its top'}: {problem.sentence}")
        if not found:
            typer.echo(f"{', '.join(documents)}: no problems.")
        raise typer.Exit(1 if found else 0)

"""`roma backup` and `roma restore`: all documents of an installation as a folder of files."""

from pathlib import Path
from typing import Annotated

import typer

from relay.cli.confirm import Actor, Comment, Yes, confirm, who_does, zookeeper
from relay.cli.root import ConfigFile, app, settings_of, told_errors


@app.command()
def backup(
    folder: Annotated[Path, typer.Argument(help="A folder that is empty or not there.")],
    config: ConfigFile,
) -> None:
    """Write all documents of the installation down: mapping sets, notes, instances.

    Positions are in Kafka.
    """
    with told_errors():
        settings = settings_of(config)
        from relay.state import DocumentStore, Paths

        with zookeeper(settings) as session:
            taken = DocumentStore(
                session, Paths.of(settings.zookeeper, settings.installation), settings.installation
            ).take()
        taken.write(folder)
        typer.echo(f"{len(taken.nodes)} documents of {settings.installation} are in {folder}.")


@app.command()
def restore(
    folder: Annotated[Path, typer.Argument(help="A folder that `roma backup` wrote.")],
    config: ConfigFile,
    over_present: Annotated[
        bool, typer.Option("--over-present", help="Replace documents that are there and differ.")
    ] = False,
    comment: Comment = "",
    actor: Actor = None,
    yes: Yes = None,
) -> None:
    """Put the documents of a backup into an empty ZooKeeper; --yes names the installation."""
    with told_errors():
        settings = settings_of(config)
        from relay.operations import restore_documents
        from relay.state import Backup

        found = Backup.read(folder)
        typer.echo(
            f"{len(found.nodes)} documents of {found.installation} go to "
            f"{settings.zookeeper.hosts}."
        )
        confirm(settings.installation, yes)
        with zookeeper(settings) as session:
            written = restore_documents(
                settings, session, found, who_does(actor, comment), over_present=over_present
            )
        typer.echo(f"{written} documents were written, {len(found.nodes) - written} were there.")

"""`roma backup` and `roma restore`: all documents of an installation as a folder of files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.confirm import Actor, Comment, Yes, confirm, delayed_trail, who_does, zookeeper
from relay.cli.json_output import fields
from relay.cli.root import ConfigFile, app, settings_of, told_errors

if TYPE_CHECKING:
    from relay.state import Backup


@app.command()
def backup(
    folder: Annotated[Path, typer.Argument(help="A folder that is empty or does not exist.")],
    config: ConfigFile,
) -> None:
    """Write all documents of the installation to a folder: mapping sets, notes, instances.

    The backup contains no positions: they are stored in Kafka.
    """
    with told_errors():
        settings = settings_of(config)
        from relay.state import DocumentStore, Paths

        with zookeeper(settings) as session:
            taken = DocumentStore(
                session, Paths.of(settings.zookeeper, settings.installation), settings.installation
            ).take()
        taken.write(folder)
        fields(installation=settings.installation, documents=len(taken.nodes))
        typer.echo(
            f"{len(taken.nodes)} documents of {settings.installation} were written to {folder}."
        )


@app.command()
def restore(
    folder: Annotated[
        Path,
        typer.Argument(help="A folder that `roma backup` wrote, or a file of the admin's page."),
    ],
    config: ConfigFile,
    over_present: Annotated[
        bool, typer.Option("--over-present", help="Replace existing documents that differ.")
    ] = False,
    from_stdin: Annotated[
        bool,
        typer.Option(
            "--passphrase-from-stdin",
            help="Read the passphrase of a file from the first line of standard input.",
        ),
    ] = False,
    comment: Comment = "",
    actor: Actor = None,
    yes: Yes = None,
) -> None:
    """Restore the documents of a backup into an empty ZooKeeper. --yes names the installation.

    Before it asks for confirmation, it lists each user and token that is added, changed or removed.
    """
    with told_errors():
        settings = settings_of(config)
        from relay.operations import kept_documents, restore_documents, restored_accounts
        from relay.state import Backup

        sealed = folder.is_file()
        found = _unsealed(folder, from_stdin=from_stdin) if sealed else Backup.read(folder)
        typer.echo(
            f"{len(found.nodes)} documents of {found.installation} go to "
            f"{settings.zookeeper.hosts}."
        )
        with zookeeper(settings) as session:
            for sentence in restored_accounts(settings, session, found):
                typer.echo(sentence)
            confirm(settings.installation, yes)
            with delayed_trail(settings) as acts:
                who = who_does(actor, comment)
                changes = restore_documents(
                    settings, session, found, who, acts, over_present=over_present
                )
        written = len(changes.to_write)
        fields(documents=len(found.nodes), written=written, kept=list(changes.kept))
        typer.echo(
            f"{written} documents were written, {len(found.nodes) - written} were there already."
        )
        for sentence in kept_documents(changes):
            typer.echo(sentence)


def _unsealed(file: Path, *, from_stdin: bool) -> "Backup":
    """Open a backup that the admin's page has made. Raises BackupRefused."""
    import sys

    from relay.errors import BackupRefused
    from relay.state.sealed_backup import unseal

    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise BackupRefused(f"{file} cannot be read: {exc}.") from exc
    if from_stdin:
        return unseal(text, sys.stdin.readline().rstrip("\r\n"))
    return unseal(text, typer.prompt("Passphrase of the backup", hide_input=True))

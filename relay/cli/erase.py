"""`roma erase`: remove a person's data from every store of the installation."""

from pathlib import Path
from typing import Annotated

import typer

from relay.cli.confirm import Actor, Comment, Yes, confirm, who_does, zookeeper
from relay.cli.json_output import fields
from relay.cli.root import ConfigFile, app, settings_of, told_errors


@app.command()
def erase(
    config: ConfigFile,
    keys: Annotated[
        Path | None,
        typer.Option(
            "--keys", help="A file with one message key a line; `-` reads standard input."
        ),
    ] = None,
    texts: Annotated[
        Path | None,
        typer.Option("--texts", help="A file with one text a line, such as a name or address."),
    ] = None,
    topics: Annotated[
        list[str] | None,
        typer.Option(
            "--topic",
            help="Also search this topic, to which no instance publishes; may be repeated.",
        ),
    ] = None,
    delete_records: Annotated[
        bool,
        typer.Option(
            "--delete-records",
            help="In topics without compaction, delete all records up to the last one with a key.",
        ),
    ] = False,
    by_text: Annotated[
        bool,
        typer.Option(
            "--by-text",
            help="Also erase records in which only a text was found, no key; the "
            "preview lists them.",
        ),
    ] = False,
    preview: Annotated[
        bool, typer.Option("--preview", help="Show the findings, and erase nothing.")
    ] = False,
    comment: Comment = "",
    actor: Actor = None,
    yes: Yes = None,
) -> None:
    """Erase keys and texts from topics, dead letters, claimed values and the audit trail.

    --yes names the installation. With --preview, exit code 1 means that something was found.
    """
    with told_errors():
        settings = settings_of(config)
        from relay.operations import (
            ErasureChoice,
            PersonErasure,
            erased,
            planned,
            read_needles,
        )
        from relay.telemetry import visible

        choice = ErasureChoice(delete_records, by_text)
        needles = read_needles(_lines(keys), _lines(texts))
        with zookeeper(settings) as session:
            erasure = PersonErasure(settings, session, needles, topics or [])
            plan = erasure.plan()
            fields(is_empty=plan.is_empty, erased=False, notes=list(plan.notes))
            fields(topics={each.topic: each.records for each in plan.topics})
            typer.echo("\n".join(map(visible, planned(plan, choice))))
            if preview:
                raise typer.Exit(0 if plan.is_empty else 1)
            if plan.changes_nothing(choice):
                return
            confirm(settings.installation, yes)
            erasure.erase(plan, who_does(actor, comment), choice)
            fields(erased=True)
        typer.echo("\n".join(erased(plan)))


def _lines(file: Path | None) -> list[str]:
    if file is None:
        return []
    if str(file) == "-":
        return typer.get_text_stream("stdin").read().splitlines()
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as exc:
        typer.echo(f"{file} cannot be read: {exc}.", err=True)
        raise typer.Exit(1) from exc

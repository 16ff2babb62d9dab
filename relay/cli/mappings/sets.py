"""`roma mapping save`, `show`, `history`, `rollback`: the mapping sets in ZooKeeper."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from relay.cli.confirm import Actor, Comment, Yes, confirm, delayed_trail, who_does, zookeeper
from relay.cli.json_output import fields
from relay.cli.mappings.documents import mapping, print_problems, problem_fields
from relay.cli.printing import AsJson, print_json
from relay.cli.root import ConfigFile, settings_of, told_errors

if TYPE_CHECKING:
    from relay.operations import MappingEdit, MappingSets, Who
    from relay.settings import RelaySettings
    from relay.state import SetRecord

Preview: TypeAlias = Annotated[
    bool, typer.Option("--preview", help="Show what would change, and change nothing.")
]


@mapping.command("save")
def save(
    files: Annotated[
        list[Path],
        typer.Argument(help="The JSON documents, or folders that hold them; other documents stay."),
    ],
    config: ConfigFile,
    base: Annotated[
        int | None, typer.Option("--base", help="Refuse unless this set is active.")
    ] = None,
    preview: Preview = False,
    comment: Comment = "",
    actor: Actor = None,
    yes: Yes = None,
) -> None:
    """Save mapping documents as the next set and activate it; --yes names the installation.

    The command writes an audit entry.
    """
    with sets_of(config) as (settings, sets):
        from relay.route import read_mapping_files

        edit = sets.edit(read_mapping_files(files), base)
        carry_out(settings, sets, edit, lambda: who_does(actor, comment), yes, preview=preview)


@mapping.command("show")
def show(
    config: ConfigFile,
    number: Annotated[
        int | None, typer.Option("--set", help="Number of another set; default: the active set.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--into", help="Write the documents into this folder as files that `save` accepts."
        ),
    ] = None,
) -> None:
    """Show the documents of a mapping set."""
    with sets_of(config) as (_, sets):
        stored = sets.stored(number)
        fields(set=stored.number, documents=dict(stored.bodies))
        typer.echo(_line(stored.record) if stored.number else "No mapping was saved yet.")
        for data_id, body in sorted(stored.bodies.items()):
            if folder is None:
                typer.echo(f"\n{data_id}:\n{body.rstrip()}")
            else:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{data_id}.json").write_text(body, encoding="utf-8")
        if folder is not None:
            typer.echo(f"{len(stored.bodies)} documents are in {folder}.")


@mapping.command("history")
def history(
    config: ConfigFile,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Largest number of sets.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Show the mapping sets, the newest first. `*` marks the active set."""
    with sets_of(config) as (_, sets):
        active, records = sets.history(limit)
        if as_json:
            for record in records:
                print_json(_fields(record, active))
            return
        for record in records:
            typer.echo(f"{'*' if record.number == active else ' '} {_line(record)}")
        if not records:
            typer.echo("No mapping was saved yet.")


@mapping.command("rollback")
def rollback(
    number: Annotated[int, typer.Argument(help="The set whose documents become the next set.")],
    config: ConfigFile,
    preview: Preview = False,
    comment: Comment = "",
    actor: Actor = None,
    yes: Yes = None,
) -> None:
    """Save an older set's documents as the next set and activate it; --yes names the installation.

    The command writes an audit entry.
    """
    with sets_of(config) as (settings, sets):
        carry_out(
            settings,
            sets,
            sets.roll_back_to(number),
            lambda: who_does(actor, comment),
            yes,
            preview=preview,
        )


def carry_out(
    settings: "RelaySettings",
    sets: "MappingSets",
    edit: "MappingEdit",
    who: "Callable[[], Who]",
    yes: str | None,
    *,
    preview: bool,
) -> None:
    """Print the problems of an edit; if it has none, activate its documents after the operator's
    confirmation. `who` returns the operator, `yes` is the value of --yes, and with `preview`
    nothing is activated.

    Ends the program with code 1 if the edit has problems or is not confirmed.
    """
    print_problems(edit.problems, err=True)
    fields(base=edit.base, changed=list(edit.changed), problems=problem_fields(edit.problems))
    if edit.problems:
        raise typer.Exit(1)
    if edit.changed:
        differ = ", ".join(edit.changed)
        typer.echo(f"Documents that differ from mapping set {edit.base}: {differ}.")
    elif sets.needs_number(edit):
        typer.echo(
            f"Mapping set {edit.base} has the same documents. They get a number above all sets "
            "that rows were published under."
        )
    else:
        typer.echo(f"Nothing changes: mapping set {edit.base} has the same documents.")
        return
    if not preview:
        confirm(settings.installation, yes)
        number = sets.carry_out(edit, who()).number
        fields(set=number)
        typer.echo(f"Mapping set {number} is active.")


def _fields(record: "SetRecord", active: int) -> dict[str, object]:
    return {
        "number": record.number,
        "in_force": record.number == active,
        "author": record.note.author,
        "comment": record.note.comment,
        "saved_ms": record.note.saved_ms,
        "restored_from": record.restored_from,
    }


def _line(record: "SetRecord") -> str:
    from datetime import UTC, datetime

    moment = datetime.fromtimestamp(record.note.saved_ms / 1000, UTC).strftime(
        "%Y-%m-%d %H:%M:%S UTC"
    )
    restored = "" if record.restored_from is None else f"(documents of set {record.restored_from})"
    return "  ".join(
        filter(
            None,
            (f"set {record.number}", moment, record.note.author, record.note.comment, restored),
        )
    )


@contextmanager
def sets_of(config: Path) -> "Iterator[tuple[RelaySettings, MappingSets]]":
    """Context manager: yield the settings and the mapping sets of the installation. Errors end the
    program.
    """
    with told_errors():
        settings = settings_of(config)
        from relay.operations import MappingSets

        with zookeeper(settings) as session, delayed_trail(settings) as acts:
            yield settings, MappingSets(settings, session, acts)

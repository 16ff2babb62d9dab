"""`roma mapping diff` and `edit`: show the differences of two sets, and edit documents in an
editor.
"""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from relay.cli.confirm import Actor, Comment, Yes, check_answered, who_does
from relay.cli.json_output import asks_nothing, fields
from relay.cli.mappings.documents import mapping, print_problems, problem_fields
from relay.cli.mappings.sets import carry_out, sets_of
from relay.cli.root import ConfigFile

if TYPE_CHECKING:
    from relay.operations import MappingEdit, MappingSets

_EDITOR: Final = "vi"
"""The editor if neither VISUAL nor EDITOR is set."""
_STANDARD_ERROR: Final = 2
"""The descriptor of standard error."""
_EMPTY: Final = "[]\n"
"""Initial file content for a document that the set does not contain."""


@mapping.command("diff")
def diff(
    config: ConfigFile,
    older: Annotated[
        int | None,
        typer.Argument(help="The older set; default: the set before the newer one."),
    ] = None,
    newer: Annotated[
        int | None, typer.Argument(help="The newer set; default: the active set.")
    ] = None,
) -> None:
    """Show the lines that differ between two mapping sets.

    Exit code 0: none differ; 1: some do.
    """
    with sets_of(config) as (_, sets):
        after = sets.stored(newer)
        first = after.number - 1 if older is None else older
        before = sets.stored(first) if first > 0 else None
        lines = list(_differing(before.bodies if before else {}, after.bodies))
        fields(older=first, newer=after.number)
        for line in lines:
            typer.echo(line)
        raise typer.Exit(1 if lines else 0)


@mapping.command("edit")
def edit(
    config: ConfigFile,
    comment: Comment = "",
    actor: Actor = None,
    yes: Yes = None,
) -> None:
    """Edit the active documents with $VISUAL or $EDITOR, and activate them as the next set.

    If an edit is refused or cancelled, its files remain in a folder, whose path is printed.
    """
    with sets_of(config) as (settings, sets):
        check_answered(settings.installation, yes)
        stored = sets.stored()
        folder = Path(tempfile.mkdtemp(prefix="roma-mapping-"))
        files = _written(folder, stored.bodies)
        fields(base=stored.number, folder=str(folder))
        typer.echo(f"The documents of mapping set {stored.number} are in {folder}.")
        found = _edited(sets, files, stored.number)
        if found.changed:
            for line in _differing(stored.bodies, found.bodies):
                typer.echo(line)
        carry_out(settings, sets, found, lambda: who_does(actor, comment), yes, preview=False)
        for file in files.values():
            file.unlink()
        folder.rmdir()
        fields(folder=None)


def _edited(sets: "MappingSets", files: Mapping[str, Path], base: int) -> "MappingEdit":
    """Return the edit when it has no problems.

    Ends the program with code 1 if the operator does not edit again.
    """
    while True:
        _run_editor(list(files.values()))
        found = sets.edit(_read(files), base)
        if not found.problems:
            return found
        print_problems(found.problems, err=True)
        fields(problems=problem_fields(found.problems))
        if asks_nothing() or not typer.confirm("Edit again?", default=True):
            raise typer.Exit(1)


def _run_editor(files: list[Path]) -> None:
    """Wait until the editor ends. Ends the program with code 1 if the editor fails.

    With --json, the editor prints to standard error: standard output has the JSON object alone.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or _EDITOR
    command = [*shlex.split(editor), *map(str, files)]
    try:
        code = subprocess.run(  # noqa: S603 - the operator's own
            command, stdout=_STANDARD_ERROR if asks_nothing() else None, check=False
        ).returncode
    except OSError as exc:
        typer.echo(
            f"The editor {editor} cannot be started ({exc.strerror}): set the variable "
            "EDITOR to another one.",
            err=True,
        )
        raise typer.Exit(1) from exc
    if code:
        typer.echo(f"The editor {editor} ended with code {code}; nothing is saved.", err=True)
        raise typer.Exit(1)


def _written(folder: Path, bodies: Mapping[str, str]) -> dict[str, Path]:
    """Write the documents into files, and return the files by name. Documents that no set contains
    get an empty list.
    """
    from relay.route import DATA_IDS

    files = {name: folder / f"{name}.json" for name in DATA_IDS}
    for name, file in files.items():
        file.write_text(bodies.get(name, _EMPTY), encoding="utf-8")
    return files


def _read(files: Mapping[str, Path]) -> dict[str, bytes]:
    """Return the documents, without those that still contain the initial empty list."""
    read = {name: file.read_bytes() for name, file in files.items()}
    return {name: body for name, body in read.items() if body != _EMPTY.encode()}


def _differing(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a unified diff of all documents."""
    for name in sorted({*before, *after}):
        yield from unified_diff(
            before.get(name, "").splitlines(),
            after.get(name, "").splitlines(),
            name,
            name,
            lineterm="",
        )

"""Helpers shared by the commands for users and tokens."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from relay.cli.confirm import AUDIT_SECONDS, zookeeper
from relay.cli.root import settings_of, told_errors
from relay.model.accounts import Grant, Role

if TYPE_CHECKING:
    from relay.operations import AccountEditor

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
RoleOption: TypeAlias = Annotated[
    Role, typer.Option("--role", help="Each role includes the rights of the roles before it.")
]
Values: TypeAlias = Annotated[
    bool, typer.Option("--values", help="Also read values of rows: dead letters.")
]

FromStdin: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--password-from-stdin", help="Read the password from the first line of standard input."
    ),
]


@contextmanager
def account_editor(config: Path) -> "Iterator[AccountEditor]":
    """Context manager: yield the editor of an installation's users and tokens. At the end, wait
    until Kafka has the audit entries.
    """
    with told_errors():
        settings = settings_of(config)
        from relay.operations import AccountEditor

        with zookeeper(settings) as session:
            editor = AccountEditor(settings, session)
            try:
                yield editor
            finally:
                editor.close(AUDIT_SECONDS)


def password_from_stdin() -> str:
    """Return the first line of standard input, without its line break.

    Ends the program with code 2 if the line is empty.
    """
    import sys

    line = sys.stdin.readline().rstrip("\r\n")
    if not line:
        raise typer.BadParameter("--password-from-stdin: the first line is empty.")
    return line


def asked_password(name: str) -> str:
    """Ask the operator at the terminal for a password of the user `name`, and return it. It is
    typed twice and not shown.
    """
    return str(
        typer.prompt(f"New password of {name}", hide_input=True, confirmation_prompt="Once more")
    )


def say(sentence: str, fields: dict[str, object], *, as_json: bool) -> None:
    """Print the sentence, or with `as_json` the `fields` as one line of JSON."""
    import json

    typer.echo(json.dumps(fields) if as_json else sentence)


def grant_text(grant: Grant) -> str:
    """Return the rights of a user or token as text: the role, and whether values of rows may be
    read.
    """
    return f"{grant.role.value} with values of rows" if grant.values else grant.role.value


def print_all(
    lines: Iterable[str], fields: Iterable[dict[str, object]], none: str, *, as_json: bool
) -> None:
    """Print the lines of a list, or its fields as one line of JSON. Print `none` for an empty
    list.
    """
    import json

    typer.echo(json.dumps(list(fields)) if as_json else "\n".join(lines) or none)

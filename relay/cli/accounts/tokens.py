"""`roma tokens`: API tokens of users."""

from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.accounts.editor import (
    AsJson,
    Values,
    account_editor,
    grant_text,
    print_all,
    say,
)
from relay.cli.confirm import Actor, Comment, who_does
from relay.cli.root import ConfigFile, app
from relay.model.accounts import Grant, Role

if TYPE_CHECKING:
    from relay.model.accounts import ApiToken

tokens = typer.Typer(no_args_is_help=True, help="API tokens of the admin's users.")
app.add_typer(tokens, name="tokens")

Name = Annotated[str, typer.Argument(help="The token's name.")]


@tokens.command("list")
def list_tokens(
    config: ConfigFile,
    owner: Annotated[str | None, typer.Option("--user", help="Only tokens of this user.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show all tokens, each with the last four characters of its secret."""
    with account_editor(config) as editor:
        found = [
            each
            for _, each in sorted(editor.accounts().tokens.items())
            if owner in (None, each.owner)
        ]
        lines = map(_line, found)
        print_all(lines, map(_fields, found), "There are no tokens.", as_json=as_json)


@tokens.command("add")
def add_token(
    name: Name,
    config: ConfigFile,
    owner: Annotated[
        str,
        typer.Option(
            "--user",
            help="The owner of the token. The token never gives more rights than this user has.",
        ),
    ],
    role: Annotated[
        Role | None,
        typer.Option("--role", help="Role of the token; default: the user's present rights."),
    ] = None,
    values: Values = False,
    days: Annotated[
        int,
        typer.Option("--days", min=0, max=3650, help="Days until it expires; 0: never."),
    ] = 90,
    as_json: AsJson = False,
    comment: Comment = "",
    actor: Actor = None,
) -> None:
    """Create a token and print its secret once."""
    with account_editor(config) as editor:
        if values and role is None:
            raise typer.BadParameter(
                "--values needs --role; without --role the token has the user's rights."
            )
        made = editor.add_token(
            name,
            owner,
            None if role is None else Grant(role, values),
            days,
            who_does(actor, comment),
        )
        say(made.secret, {**_fields(made.token), "token": made.secret}, as_json=as_json)
        if not as_json:
            typer.echo(
                f"Token {name} of {owner}: {grant_text(made.token.grant)}, "
                f"{_expiry(made.token)}. Store it now: it is not shown again.",
                err=True,
            )


@tokens.command("revoke")
def revoke(
    name: Name,
    config: ConfigFile,
    as_json: AsJson = False,
    comment: Comment = "",
    actor: Actor = None,
) -> None:
    """Remove a token. The admin refuses it immediately."""
    with account_editor(config) as editor:
        editor.revoke_token(name, who_does(actor, comment))
        say(f"Token {name} is revoked.", {"name": name, "revoked": True}, as_json=as_json)


def _line(token: "ApiToken") -> str:
    grant = grant_text(token.grant)
    return f"{token.name}  {token.owner}  …{token.last_four}  {grant}  {_expiry(token)}"


def _expiry(token: "ApiToken") -> str:
    from datetime import UTC, datetime

    if not token.expires_ms:
        return "never expires"
    return f"expires {datetime.fromtimestamp(token.expires_ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"


def _fields(token: "ApiToken") -> dict[str, object]:
    return {
        "name": token.name,
        "owner": token.owner,
        "role": token.grant.role.value,
        "values": token.grant.values,
        "last_four": token.last_four,
        "created_ms": token.created_ms,
        "expires_ms": token.expires_ms,
    }

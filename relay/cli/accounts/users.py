"""`roma users`: the users of the admin and their rights."""

from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.accounts.editor import (
    AsJson,
    FromStdin,
    RoleOption,
    Values,
    account_editor,
    asked_password,
    grant_text,
    password_from_stdin,
    print_all,
    say,
)
from relay.cli.confirm import Actor, Comment, who_does
from relay.cli.root import ConfigFile, app
from relay.model.accounts import Grant

if TYPE_CHECKING:
    from relay.model.accounts import User

users = typer.Typer(no_args_is_help=True, help="Who may use the admin.")
app.add_typer(users, name="users")

Name = Annotated[str, typer.Argument(help="The user's name.")]


@users.command("list")
def list_users(config: ConfigFile, as_json: AsJson = False) -> None:
    """Show all users."""
    with account_editor(config) as editor:
        found = [each for _, each in sorted(editor.accounts().users.items())]
        lines = map(_line, found)
        print_all(lines, map(_fields, found), "There are no users.", as_json=as_json)


@users.command("add")
def add_user(
    name: Name,
    config: ConfigFile,
    role: RoleOption,
    values: Values = False,
    from_stdin: FromStdin = False,
    ask: Annotated[
        bool, typer.Option("--password", help="Ask for a password at the terminal, twice.")
    ] = False,
    as_json: AsJson = False,
    comment: Comment = "",
    actor: Actor = None,
) -> None:
    """Add a user. After the first user is added, only users can read the admin.

    Without a password the user cannot sign in to the pages. `roma users password` sets one later.
    """
    with account_editor(config) as editor:
        password = password_from_stdin() if from_stdin else asked_password(name) if ask else ""
        who = who_does(actor, comment)
        editor.add_user(name, Grant(role, values), who, password=password)
        _say_user(editor.accounts().user(name), "added", as_json=as_json)


@users.command("set-role")
def set_role(
    name: Name,
    config: ConfigFile,
    role: RoleOption,
    values: Values = False,
    as_json: AsJson = False,
    comment: Comment = "",
    actor: Actor = None,
) -> None:
    """Change the role of a user. If a token of the user has more rights than the new role, it loses
    them immediately.

    Without --values the user loses the right to read values of rows.
    """
    with account_editor(config) as editor:
        editor.set_grant(name, Grant(role, values), who_does(actor, comment))
        _say_user(editor.accounts().user(name), "changed", as_json=as_json)


@users.command("disable")
def disable(
    name: Name,
    config: ConfigFile,
    as_json: AsJson = False,
    comment: Comment = "",
    actor: Actor = None,
) -> None:
    """Refuse all tokens of a user immediately."""
    with account_editor(config) as editor:
        editor.set_disabled(name, who_does(actor, comment), disabled=True)
        _say_user(editor.accounts().user(name), "disabled", as_json=as_json)


@users.command("enable")
def enable(
    name: Name,
    config: ConfigFile,
    as_json: AsJson = False,
    comment: Comment = "",
    actor: Actor = None,
) -> None:
    """Accept a disabled user and the user's tokens again."""
    with account_editor(config) as editor:
        editor.set_disabled(name, who_does(actor, comment), disabled=False)
        _say_user(editor.accounts().user(name), "enabled", as_json=as_json)


@users.command("password")
def set_password(
    name: Name,
    config: ConfigFile,
    from_stdin: FromStdin = False,
    remove: Annotated[
        bool,
        typer.Option(
            "--remove", help="Remove the password: the user can no longer sign in to the pages."
        ),
    ] = False,
    as_json: AsJson = False,
    comment: Comment = "",
    actor: Actor = None,
) -> None:
    """Set the password with which a user signs in to the pages. The command asks for it twice.

    The password is not an argument, because other users of the machine can read arguments.
    """
    with account_editor(config) as editor:
        who = who_does(actor, comment)
        if remove:
            editor.remove_password(name, who)
        else:
            editor.accounts().user(name)
            password = password_from_stdin() if from_stdin else asked_password(name)
            editor.set_password(name, password, who)
        done = "without a password" if remove else "changed"
        _say_user(editor.accounts().user(name), done, as_json=as_json)


def _say_user(user: "User", done: str, *, as_json: bool) -> None:
    say(f"User {user.name} is {done}: {grant_text(user.grant)}.", _fields(user), as_json=as_json)


def _line(user: "User") -> str:
    line = f"{user.name}  {grant_text(user.grant)}"
    line = f"{line}  signs in with a password" if user.password else line
    return f"{line}  disabled" if user.disabled else line


def _fields(user: "User") -> dict[str, object]:
    return {
        "name": user.name,
        "role": user.grant.role.value,
        "values": user.grant.values,
        "disabled": user.disabled,
        "created_ms": user.created_ms,
        "has_password": bool(user.password),
    }

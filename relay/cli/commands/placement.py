"""`roma placement`: which relay runs which instance, hand-overs, and servers in maintenance."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from time import time
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.confirm import Actor, Comment, delayed_trail, who_does, zookeeper
from relay.cli.json_output import fields
from relay.cli.printing import AsJson, print_json
from relay.cli.root import ConfigFile, app, settings_of, told_errors

if TYPE_CHECKING:
    from relay.operations import PlacementEditor
    from relay.state import Note

placement = typer.Typer(no_args_is_help=True, help="Which relay runs which instance.")
app.add_typer(placement, name="placement")


@placement.command("show")
def show(config: ConfigFile, as_json: AsJson = False) -> None:
    """Show which relay leads each instance, which relays could lead it, and why others could
    not.
    """
    with _editor(config) as editor:
        if as_json:
            for each in editor.assignments():
                print_json(asdict(each))
            return
        from rich.console import Console

        from relay.cli.placement_table import placement_table

        Console().print(placement_table(editor.assignments(), editor.maintenance()))


@placement.command("move")
def move(
    instance: str,
    to: Annotated[str, typer.Option("--to", help="A relay's or a server's name.")],
    config: ConfigFile,
    comment: Comment = "",
    actor: Actor = None,
) -> None:
    """Hand an instance over to another relay or server immediately, with an audit entry.

    The instance stays there while that relay or server is alive, until you withdraw the move.
    """
    with _editor(config) as editor:
        editor.hand_over(instance, to, _note(actor, comment))
        fields(instance=instance, to=to)


@placement.command("withdraw")
def withdraw(instance: str, config: ConfigFile, comment: Comment = "", actor: Actor = None) -> None:
    """Withdraw a move. Settings and balance then choose the instance's relay again.

    The command writes an audit entry.
    """
    with _editor(config) as editor:
        editor.withdraw_hand_over(instance, _note(actor, comment))
        fields(instance=instance)


@placement.command("drain")
def drain(server: str, config: ConfigFile, comment: Comment = "", actor: Actor = None) -> None:
    """Put a server into maintenance: its relays hand over every instance that others can run, and
    accept no instance.

    The command writes an audit entry.
    """
    with _editor(config) as editor:
        editor.drain(server, _note(actor, comment))
        fields(server=server, maintenance=True)


@placement.command("resume")
def resume(server: str, config: ConfigFile, comment: Comment = "", actor: Actor = None) -> None:
    """End a server's maintenance. Its relays accept instances again. The command writes an audit
    entry.
    """
    with _editor(config) as editor:
        editor.end_maintenance(server, _note(actor, comment))
        fields(server=server, maintenance=False)


@contextmanager
def _editor(config: ConfigFile) -> Iterator["PlacementEditor"]:
    with told_errors():
        settings = settings_of(config)
        from relay.operations import PlacementEditor
        from relay.state import Membership, Paths, PlacementStore

        paths = Paths.of(settings.zookeeper, settings.installation)
        with zookeeper(settings) as session, delayed_trail(settings) as acts:
            yield PlacementEditor(Membership(session, paths), PlacementStore(session, paths), acts)


def _note(actor: str | None, comment: str) -> "Note":
    from relay.state import Note

    who = who_does(actor, comment)
    return Note(who.name, who.comment, int(time() * 1000))

"""`roma placement`: who runs what, moves, and servers in maintenance."""

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from time import time
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli.printing import AsJson, print_json
from relay.cli.root import ConfigFile, app, settings_of, told_errors

if TYPE_CHECKING:
    from relay.state import InstancePlace, Membership, Note, PlacementStore

placement = typer.Typer(no_args_is_help=True, help="Which relay runs what.")
app.add_typer(placement, name="placement")

Comment = Annotated[str, typer.Option("--comment", help="Why, for those who look later.")]


@placement.command("show")
def show(config: ConfigFile, as_json: AsJson = False) -> None:
    """Show who leads each instance, and who could take it over or why not."""
    with _stores(config) as (members, overrides):
        if as_json:
            for each in _places(members, overrides):
                print_json(asdict(each))
            return
        from rich.console import Console

        from relay.cli.placement_table import placement_table

        found = overrides.overrides()
        Console().print(placement_table(_places(members, overrides), sorted(found.maintenance)))


@placement.command("move")
def move(
    instance: str,
    to: Annotated[str, typer.Option("--to", help="A relay's or a server's name.")],
    config: ConfigFile,
    comment: Comment = "",
) -> None:
    """Move an instance, at once.

    It stays there while that relay or server lives, until the move is withdrawn.
    """
    with _stores(config) as (members, overrides):
        from relay.errors import NodeMissing
        from relay.state import check_move

        found = next(
            (each for each in _places(members, overrides) if each.instance == instance), None
        )
        if found is None:
            raise NodeMissing(f"No living relay has an instance called {instance}.")
        check_move(found, to)
        overrides.move(instance, to, _note(comment))


@placement.command("withdraw")
def withdraw(instance: str, config: ConfigFile) -> None:
    """Withdraw a move: the instance runs where its settings and the balance say."""
    with _stores(config) as (_, overrides):
        overrides.withdraw_move(instance)


@placement.command("drain")
def drain(server: str, config: ConfigFile, comment: Comment = "") -> None:
    """Put a server into maintenance: its relays hand over what others can run, and take nothing."""
    with _stores(config) as (_, overrides):
        overrides.drain(server, _note(comment))


@placement.command("resume")
def resume(server: str, config: ConfigFile) -> None:
    """End a server's maintenance: it takes its share again."""
    with _stores(config) as (_, overrides):
        overrides.end_maintenance(server)


@contextmanager
def _stores(config: ConfigFile) -> Iterator[tuple["Membership", "PlacementStore"]]:
    with told_errors():
        settings = settings_of(config)
        from relay.deadline import Deadline
        from relay.state import Membership, Paths, PlacementStore
        from relay.zk import Session

        session = Session(settings.zookeeper)
        paths = Paths.of(settings.zookeeper, settings.installation)
        try:
            session.start(Deadline.after(10))
            yield Membership(session, paths), PlacementStore(session, paths)
        finally:
            session.stop()


def _places(members: "Membership", overrides: "PlacementStore") -> tuple["InstancePlace", ...]:
    from relay.state import places

    return places(members.members(), members.leaders(), overrides.overrides())


def _note(comment: str) -> "Note":
    from relay.state import Note

    return Note(getpass.getuser(), comment, int(time() * 1000))

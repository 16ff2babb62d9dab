"""Options of every operator act: actor, reason and confirmation."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from relay.cli.json_output import asks_nothing

if TYPE_CHECKING:
    from relay.audit import DelayedTrail
    from relay.operations import Who
    from relay.settings import RelaySettings
    from relay.zk import Session

AUDIT_SECONDS: Final = 5.0
"""Seconds that the command waits for Kafka to accept the entries of the audit trail."""

Comment: TypeAlias = Annotated[
    str, typer.Option("--comment", help="Reason; recorded in the audit trail.")
]
Actor: TypeAlias = Annotated[
    str | None, typer.Option("--actor", help="Who does it; default: the name of the login.")
]
Yes: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--yes",
        help="Confirm with the name that the command would ask for, instead of at the terminal.",
    ),
]


def who_does(actor: str | None, comment: str) -> "Who":
    """Return the operator's name and reason for the audit trail. `actor` None: `user@host` of this
    process.
    """
    import getpass
    import socket

    from relay.operations import Who

    return Who(actor or f"{getpass.getuser()}@{socket.gethostname()}", comment)


def check_answered(name: str, yes: str | None) -> None:
    """End the program with code 2 if the output is JSON and `yes` is None, because the program
    cannot ask for confirmation.
    """
    if yes is None and asks_nothing():
        raise typer.BadParameter(f"--json does not ask for confirmation: give --yes {name}.")


def confirm(name: str, yes: str | None) -> None:
    """Return if the operator confirms by repeating `name`, with the option --yes or at the
    terminal.

    Otherwise ends the program with code 1, or with code 2 if it cannot ask.
    """
    check_answered(name, yes)
    given = (
        typer.prompt(f"Type {name} to confirm", default="", show_default=False)
        if yes is None
        else yes
    )
    if given != name:
        typer.echo(f"Nothing was changed: {given!r} is not {name!r}.", err=True)
        raise typer.Exit(1)


@contextmanager
def zookeeper(settings: "RelaySettings") -> Iterator["Session"]:
    """Context manager: a session with the installation's ZooKeeper. Raises StoreUnreachable."""
    from relay.deadline import Deadline
    from relay.zk import Session

    session = Session(settings.zookeeper)
    try:
        session.start(Deadline.after(10))
        yield session
    finally:
        session.stop()


@contextmanager
def delayed_trail(settings: "RelaySettings") -> Iterator["DelayedTrail"]:
    """Context manager: yield the audit trail for acts that use no Kafka.

    At the end it waits up to AUDIT_SECONDS for Kafka. Entries that Kafka has not accepted then are
    written to the log.
    """
    from relay.audit import AuditTrail, DelayedTrail

    acts = DelayedTrail(AuditTrail(settings.kafka, settings.installation))
    try:
        yield acts
    finally:
        acts.close(AUDIT_SECONDS)

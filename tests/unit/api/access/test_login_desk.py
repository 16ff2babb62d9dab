"""What is written down of a refused attempt to sign in, and how many requests may wait."""

import asyncio
from threading import Event
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from api.access.login.attempt_notes import AttemptNotes
from api.access.login.desk import MOST_WAITING, LoginDesk
from api.access.login.login_sessions import LoginSessions
from api.access.login.throttle import LoginThrottle
from api.errors import LoginBusy, LoginRefused
from relay.audit import AuditEntry, DelayedTrail
from relay.model.accounts import Accounts, Grant, Role, User

ANN = User("ann", Grant(Role.VIEWER, values=False), 1)


class Trail:
    def __init__(self) -> None:
        self.entries: list[AuditEntry] = []

    def note(self, entry: AuditEntry) -> None:
        self.entries.append(entry)


def desk_with(trail: Trail) -> LoginDesk:
    return LoginDesk(
        lambda: Accounts({"ann": ANN}, {}),
        cast("LoginSessions", None),
        LoginThrottle(),
        AttemptNotes(cast("DelayedTrail", trail)),
    )


@pytest.mark.parametrize(("typed", "noted"), [("ann", "ann"), ("my secret password", "")])
def test_only_names_of_users_are_written_down(typed: str, noted: str) -> None:
    """A user may type a password into the field of the name."""
    trail = Trail()
    desk = desk_with(trail)
    with capture_logs() as logged, pytest.raises(LoginRefused):
        asyncio.run(desk.verify_again(typed, "wrong", "127.0.0.1"))
    (entry,) = trail.entries
    written: dict[str, Any] = dict(entry.after)
    assert (entry.actor, written["user"]) == ("unknown", noted)
    assert typed == noted or typed not in f"{entry}{logged}"


def test_new_passwords_wait_in_the_same_limited_number_as_sign_ins() -> None:
    desk, may_end = desk_with(Trail()), Event()

    def wait() -> None:
        may_end.wait(60)

    async def crowd() -> None:
        waiting = [asyncio.create_task(desk.hash_in_turn(wait)) for _ in range(MOST_WAITING)]
        await asyncio.sleep(0)  # each of them runs until it waits
        try:
            with pytest.raises(LoginBusy):
                await desk.hash_in_turn(wait)
            with pytest.raises(LoginBusy):
                await desk.verify_again("ann", "wrong", "127.0.0.1")
        finally:
            may_end.set()
            await asyncio.gather(*waiting)
        await desk.hash_in_turn(wait)

    asyncio.run(crowd())

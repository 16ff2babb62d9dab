"""Whether the form for signing in may offer to read without a session."""

from collections.abc import Callable

import pytest
from pydantic import SecretStr

from api.access import Gate
from relay.errors import StoreUnreachable
from relay.model.accounts import Accounts, Grant, Role, User

NOBODY = Accounts()
ANN = NOBODY.with_user(User("ann", Grant(Role.VIEWER), 0))


def away() -> Accounts:
    raise StoreUnreachable("ZooKeeper does not answer.")


@pytest.mark.parametrize(
    ("accounts", "always_ask", "is_open"),
    [
        (lambda: NOBODY, False, True),
        (lambda: NOBODY, True, False),
        (lambda: ANN, False, False),
        (away, False, False),
    ],
)
def test_only_an_installation_without_users_reads_openly(
    accounts: Callable[[], Accounts], always_ask: bool, is_open: bool
) -> None:
    gate = Gate(SecretStr("t"), accounts, always_ask=always_ask)
    assert gate.reads_openly() is is_open


def test_users_that_were_lost_open_nothing() -> None:
    states = [ANN, NOBODY]
    gate = Gate(SecretStr("t"), lambda: states.pop(0))
    assert not gate.reads_openly()
    assert not gate.reads_openly()

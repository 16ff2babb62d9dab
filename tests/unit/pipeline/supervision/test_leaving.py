"""A relay that leaves the election has freed its clients before: a late answer to one must not fence the next leader."""

import weakref
from types import SimpleNamespace
from typing import Any

import pytest

from relay.errors import BrokerUnreachable, LeadershipLost, RelayError
from relay.pipeline.supervision.instance import Instance


class Client:
    """Stands for a producer whose `init_transactions` was not answered."""


def _opened(client: Client) -> None:
    raise BrokerUnreachable(f"{type(client).__name__} was not answered.")


def _led(client: Client) -> None:
    try:
        _opened(client)
    except BrokerUnreachable as exc:
        raise LeadershipLost("The election node is gone.") from exc


def _ended_session() -> tuple[Any, RelayError, "weakref.ref[Client]"]:
    """A session that holds a client, and the error that ended it, whose frames hold the client too."""
    client = Client()
    with pytest.raises(LeadershipLost) as lost:
        _led(client)
    return SimpleNamespace(client=client), lost.value, weakref.ref(client)


class Leaving(Instance):
    """An instance of which only the end of a leadership runs."""

    def __init__(self, session: Any, error: RelayError, election: Any) -> None:
        self._session = session
        self.error = error
        self._election = election

    def leave(self) -> None:
        self._leave()


def test_no_client_is_left_when_the_election_is() -> None:
    session, error, client = _ended_session()
    left: list[bool] = []
    instance = Leaving(session, error, SimpleNamespace(leads=lambda: False, resign=lambda: left.append(client() is None)))
    del session, error
    assert client() is not None
    instance.leave()
    assert left == [True]

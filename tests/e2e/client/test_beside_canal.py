"""The same verbs on a real Canal and on the relay: what each gives after the same inserts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest

from deploy.embedded import SqlServer
from roma_client.canal import CanalConnector
from roma_client.errors import BatchUnknown
from tests.e2e.client.conftest import Shop
from tests.support.clients.canal.real_canal import CanalRefused, RealCanal, Rows
from tests.support.waiting import wait_until

pytestmark = pytest.mark.long


class Verbs(Protocol):
    """The verbs, and the source that they are about."""

    refusal: type[Exception]

    def insert(self, key: int) -> None: ...
    def open(self) -> None: ...
    def close(self) -> None: ...
    def unsubscribe(self) -> None: ...
    def subscribe(self) -> None: ...
    def get(self) -> Rows: ...
    def get_without_ack(self) -> Rows: ...
    def ack(self, batch: int) -> None: ...
    def rollback(self, *batch: int) -> None: ...


class Canals:
    """The verbs of a real Canal."""

    refusal: type[Exception] = CanalRefused

    def __init__(self, canal: RealCanal, server: SqlServer, database: str) -> None:
        self._canal, self._server, self._database = canal, server, database

    def insert(self, key: int) -> None:
        self._server.execute(f"insert into {self._database}.t values ({key})")

    def open(self) -> None:
        self._canal.say("connect")
        self.subscribe()

    def close(self) -> None:
        self._canal.say("disconnect")

    def unsubscribe(self) -> None:
        self._canal.say("unsubscribe")

    def subscribe(self) -> None:
        self._canal.say("subscribe", rf"{self._database}\..*")

    def get(self) -> Rows:
        return self._canal.batch("get", 100, 500)

    def get_without_ack(self) -> Rows:
        return self._canal.batch("get_without_ack", 100, 500)

    def ack(self, batch: int) -> None:
        self._canal.say("ack", batch)

    def rollback(self, *batch: int) -> None:
        self._canal.say("rollback", *batch)


class Ours:
    """The verbs of the relay's client."""

    refusal: type[Exception] = BatchUnknown

    def __init__(self, shop: Shop) -> None:
        own = {name: shop.arguments()[name] for name in ("admin", "token", "cache", "group")}
        self._client = CanalConnector(**own, ddl=False, session_timeout_seconds=6)
        self._shop = shop

    def insert(self, key: int) -> None:
        self._shop.execute(f"insert into {{t}} (id) values ({key * 4})")

    def open(self) -> None:
        self._client.connect()
        self.subscribe()

    def close(self) -> None:
        self._client.disconnect()

    def unsubscribe(self) -> None:
        self._client.unsubscribe()

    def subscribe(self) -> None:
        self._client.subscribe(rf"{self._shop.name}\..*")

    def get(self) -> Rows:
        return self._shown(self._client.get(100, 0.5))

    def get_without_ack(self) -> Rows:
        return self._shown(self._client.get_without_ack(100, 0.5))

    def ack(self, batch: int) -> None:
        self._client.ack(batch)

    def rollback(self, *batch: int) -> None:
        self._client.rollback(*batch)

    def _shown(self, message: Any) -> Rows:
        return Rows(message.id, sorted(int(each.row["id"]) // 4 for each in message.changes))


@pytest.fixture(params=["canal", "relay"])
def verbs(request: pytest.FixtureRequest, fresh_name: Callable[[str], str], tmp_path: Path) -> Any:
    if request.param == "relay":
        ours = Ours(request.getfixturevalue("shop"))
        yield ours
        ours.close()
        return
    server = request.getfixturevalue("mariadb_10_11")
    database = fresh_name("canal")
    server.execute(f"create database {database}", f"create table {database}.t (id int primary key)")
    with RealCanal(server, database, tmp_path) as canal:
        yield Canals(canal, server, database)


def _begun(verbs: Verbs) -> None:
    """Subscribe, and take rows until one arrives and all that were written then have arrived: a
    Canal without a position begins at the end.
    """
    verbs.insert(999)  # a relay makes a topic for its first row
    verbs.open()
    written, taken = [999], list[int]()

    def has_begun() -> bool:
        written.append(written[-1] + 1)
        verbs.insert(written[-1])
        taken.extend(_taken(verbs).rows)
        return taken != []

    def is_complete() -> bool:
        if written[-1] not in taken:
            taken.extend(_taken(verbs).rows)
        return written[-1] in taken

    wait_until(has_begun, "the first row")
    wait_until(is_complete, "the last row")


def _taken(verbs: Verbs) -> Rows:
    """Return the next batch, and acknowledge it."""
    batch = verbs.get_without_ack()
    if batch.id != -1:
        verbs.ack(batch.id)
    return batch


def _next(verbs: Verbs, *expected: int) -> int:
    """Wait for a batch, which must have these rows; return its id."""
    found: list[Rows] = []

    def arrived() -> bool:
        found.append(verbs.get_without_ack())
        return found[-1].id != -1

    wait_until(arrived, f"a batch with {expected}")
    assert found[-1].rows == list(expected)
    return found[-1].id


def _insert_and_take(verbs: Verbs, key: int) -> int:
    verbs.insert(key)
    return _next(verbs, key)


def test_rollbacks_acknowledgements_and_new_connections_give_the_same_batches(verbs: Verbs) -> None:
    _begun(verbs)
    for key in (1, 2, 3):
        _insert_and_take(verbs, key)
    verbs.rollback()
    verbs.ack(_next(verbs, 1, 2, 3))
    assert verbs.get_without_ack().id == -1
    only = _insert_and_take(verbs, 4)
    verbs.rollback(only)
    again = _next(verbs, 4)
    assert again > only, "ids rise"
    _insert_and_take(verbs, 5)
    verbs.ack(again)
    verbs.rollback()
    verbs.ack(_next(verbs, 5))
    verbs.insert(6)
    wait_until(lambda: verbs.get().rows == [6], "a row by get")
    verbs.rollback()
    assert verbs.get_without_ack().id == -1, "get acknowledges"
    _insert_and_take(verbs, 7)
    verbs.close()
    verbs.open()
    verbs.ack(_next(verbs, 7))


def test_an_acknowledgement_out_of_order_is_refused_and_what_is_out_comes_again(
    verbs: Verbs,
) -> None:
    """Canal's client does not wait for the answer to `ack` and `rollback`: its next verb raises."""
    _begun(verbs)
    for refused, first in (("ack", 1), ("rollback", 3)):
        _insert_and_take(verbs, first)
        second = _insert_and_take(verbs, first + 1)

        def out_of_order(verb: str = refused, batch: int = second) -> None:
            getattr(verbs, verb)(batch)
            verbs.get_without_ack()

        with pytest.raises(verbs.refusal):
            out_of_order()
        verbs.close()
        verbs.open()
        verbs.ack(_next(verbs, first, first + 1))


def test_after_unsubscribe_canal_has_forgotten_what_was_out_and_the_relay_gives_it_again(
    verbs: Verbs,
) -> None:
    _begun(verbs)
    _insert_and_take(verbs, 1)
    verbs.unsubscribe()
    verbs.subscribe()
    verbs.insert(2)
    expected = (2,) if isinstance(verbs, Canals) else (1, 2)
    rows: list[int] = []

    def arrived() -> bool:
        rows.extend(_taken(verbs).rows)
        return 2 in rows

    wait_until(arrived, "the row after the new subscription")
    assert rows == list(expected)

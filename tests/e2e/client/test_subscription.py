"""A service that gives two names and gets the changes of a real relay."""

import asyncio
import json
import logging
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path

import httpx
import pytest
from confluent_kafka import Consumer, Producer
from prometheus_client import CollectorRegistry

from relay.settings import RelaySettings
from roma_client import Change, Operation, Retry, Subscription
from roma_client.errors import (
    CorruptMessage,
    NotPermitted,
    TableMoved,
    UnknownTable,
    UnknownTag,
    UsageError,
)
from tests.e2e.client.conftest import Shop
from tests.support.relays.admin_server import TOKEN, serving
from tests.support.waiting import wait_until

IDLE = 2.0


def subscription(shop: Shop, **more: object) -> Subscription:
    """A subscription that ends when everything is read: what was written is published first."""
    shop.wait_until_published()
    return Subscription(**{**shop.arguments(), "idle_seconds": IDLE, **more})


def read(shop: Shop, **more: object) -> list[Change]:
    with subscription(shop, **more) as changes:
        return list(changes)


def test_two_names_give_typed_changes_once_each_and_acknowledged_ones_never_again(
    shop: Shop,
) -> None:
    shop.execute(
        "alter table {t} add price decimal(10,2), add made timestamp(3) null, add raw blob",
        "set time_zone='+00:00'",
        "insert into {t} values (1, 10, 'é', 12.50, '2026-01-31 10:00:00.5', x'00ff')",
        "update {t} set n = 11 where id = 1",
        "delete from {t} where id = 1",
    )
    inserted, updated, deleted = read(shop)
    assert inserted.after == {
        "id": 1,
        "n": 10,
        "v": "é",
        "price": Decimal("12.50"),
        "made": datetime(2026, 1, 31, 10, 0, 0, 500_000, UTC),
        "raw": b"\x00\xff",
    }
    assert updated.changed == frozenset({"n"})
    assert ((updated.before or {})["n"], updated.row["n"]) == (10, 11)
    assert (deleted.operation, deleted.after) == (Operation.DELETE, None)
    assert inserted.key == updated.key == f'["{shop.name}.t","1"]'
    assert inserted.order < updated.order < deleted.order
    assert (inserted.transaction_id, inserted.tags, inserted.snapshot)[1:] == (("t",), False)
    shop.execute("insert into {t} (id, n) values (2, 20)")
    assert [each.key for each in read(shop, values="text")] == [f'["{shop.name}.t","2"]']


def test_what_a_client_asks_wrongly_is_answered_with_what_is_near(shop: Shop) -> None:
    shop.execute("insert into {t} (id, n) values (1, 1)")
    assert [each.row["n"] for each in read(shop)] == [1]
    with pytest.raises(UnknownTable, match=f"Similar names: {shop.name}.t"):
        read(shop, table="tt")
    with pytest.raises(UnknownTag, match="Its tags: t"):
        read(shop, tags=["paid"])
    with pytest.raises(UsageError, match="the token has no name"):
        read(shop, group=None)
    api = {"port": 0, "token": TOKEN, "anonymous_reads": "never"}
    document = {**shop.installation.document, "placement": {}, "api": api}
    with serving(RelaySettings.model_validate(document)) as strict:
        ready = partial(httpx.get, f"{strict.url}/readyz", trust_env=False, timeout=60)
        wait_until(lambda: ready().status_code == 200, "the admin to reach ZooKeeper")
        for token in ("wrong", None):
            with pytest.raises(NotPermitted, match=f"{strict.url} refuses: .*Give a token with"):
                read(shop, admin=strict.url, token=token)


def test_a_record_of_somebody_else_stops_the_client_or_becomes_a_dead_letter(shop: Shop) -> None:
    shop.execute("insert into {t} (id, n) values (1, 1)")
    assert len(read(shop)) == 1
    stranger = Producer({"bootstrap.servers": shop.kafka.bootstrap})
    stranger.produce(shop.name, b"{", f'["{shop.name}.t","9"]'.encode(), partition=0)
    assert not stranger.flush(20)
    with pytest.raises(CorruptMessage, match=f"{shop.name}, partition 0, is not a message"):
        read(shop)
    shop.execute("insert into {t} (id, n) values (2, 2)")
    assert [each.row["id"] for each in read(shop, corrupt="dead_letter")] == [2]
    with closing(Consumer({"bootstrap.servers": shop.kafka.bootstrap, "group.id": "l"})) as letters:
        found = letters.list_topics(timeout=10).topics
    assert f"{shop.name}-service.dead-letters" in found


def test_without_the_admin_a_client_runs_on_and_a_new_one_uses_its_cache(
    shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    shop.execute("insert into {t} (id, n) values (1, 1)")
    assert len(read(shop)) == 1
    shop.execute("insert into {t} (id, n) values (2, 2)")
    away = subscription(shop)
    with caplog.at_level(logging.WARNING, "roma_client"):
        away.admin = "http://127.0.0.1:1"
        with pytest.raises(Exception, match="ADMIN_UNREACHABLE"), away as changes:
            list(changes)
        stored = next(iter((shop.folder / "cache").iterdir()))
        stored.write_text(stored.read_text().replace(shop.admin, away.admin))
        _rename_to_question(stored)
        with subscription(shop, admin=away.admin) as changes:
            assert [each.row["id"] for each in changes] == [2]
    assert "names_from_cache" in caplog.text


def _rename_to_question(stored: Path) -> None:
    """Give the cache's file the name of the question in it, which names another address now."""
    from roma_client.names.cache import Cache

    question = json.loads(stored.read_text())["question"]
    stored.rename(Cache(stored.parent).file_of(question))


def test_a_handler_that_fails_is_retried_and_then_its_change_is_put_aside(shop: Shop) -> None:
    shop.execute("insert into {t} (id, n) values (1, 1), (2, 2), (3, 3)")
    calls: list[int] = []

    def handler(change: Change) -> None:
        calls.append(change.row["id"])
        if change.row["id"] == 2:
            raise ValueError("no such customer")

    registry = CollectorRegistry()
    retry = Retry(attempts=3, first_seconds=0.01)
    for workers in (1, 3):
        group = f"{shop.name}-w{workers}"
        calls.clear()
        subscription(shop, workers=workers, retry=retry, registry=registry, group=group).run(
            handler
        )
        assert sorted(calls) == [1, 2, 2, 2, 3]
        registry = CollectorRegistry()
    with closing(
        Consumer(
            {
                "bootstrap.servers": shop.kafka.bootstrap,
                "group.id": f"{shop.name}-letters",
                "auto.offset.reset": "earliest",
            }
        )
    ) as letters:
        letters.subscribe([f"{shop.name}-w3.dead-letters"])
        found = letters.consume(1, 60)[0]
    headers = dict(found.headers() or [])
    assert headers["dead-letter-reason"] == b"ValueError: no such customer"
    assert found.key() == f'["{shop.name}.t","2"]'.encode()


def test_async_for_reads_the_same(shop: Shop) -> None:
    shop.execute("insert into {t} (id, n) values (1, 1), (2, 2)")

    async def service() -> list[int]:
        async with subscription(shop) as changes:
            return [change.row["id"] async for change in changes]

    assert sorted(asyncio.run(service())) == [1, 2]
    assert read(shop) == []


def test_a_moved_table_stops_a_client_that_does_not_follow(
    shop: Shop,
) -> None:
    shop.execute("insert into {t} (id, n) values (1, 1)")
    with subscription(shop, idle_seconds=None, refresh_seconds=0.1, moves="stop") as changes:
        assert next(changes).row["id"] == 1
        other = f"{shop.name}-other"
        shop.installation.map(topics=[{"logicDb": shop.name, "topic": other}])
        with pytest.raises(TableMoved, match=f"sends {shop.name}.t to {other}"):
            next(changes)
    wait_until(lambda: bool(read(shop, topic=shop.name) == []), "the old topic to be read")

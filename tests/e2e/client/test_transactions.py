"""Whole source transactions from a real relay, with kills of the client and of the relay."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from deploy.embedded import Kafka, MariaDB
from roma_client import Transaction, TransactionSubscription
from roma_client.errors import UsageError
from tests.e2e.client.conftest import Shop, opened_shop
from tests.e2e.conftest import NewInstallation
from tests.snapshots import commands
from tests.support.clients.reading_process import reading, seen_transactions
from tests.support.relays.relay_process import RelayProcess
from tests.support.sources.rolling_back import insert_and_roll_back
from tests.support.waiting import wait_until

SESSION = 6
ROWS = 600
SLOWLY = 150
"""Rows a second, so that the relay is killed between BEGIN and END."""


@pytest.fixture
def shop(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, tmp_path: Path
) -> Iterator[Shop]:
    with opened_shop(
        new_installation,
        mariadb,
        kafka,
        tmp_path,
        transaction={"topic": "{instance}.transactions", "split_bytes": 100_000},
        buffer={"buffer_size": 16, "batch_mode": "ITEMSIZE"},
    ) as shop:
        tables = [{"logicTb": each, "realTbs": each} for each in ("t", "u")]
        shop.installation.map(tbs=tables)
        shop.execute(f"create table {shop.name}.u (id int primary key)")
        yield shop


def arguments(shop: Shop, *tables: str, **more: Any) -> dict[str, Any]:
    own = shop.arguments(session_timeout_seconds=SESSION, **more)
    del own["database"], own["table"]
    names = [f"{shop.name}.{each}" for each in tables]
    return {**own, "instance": "shop", "tables": names}


def in_one(*statements: str) -> list[str]:
    return ["start transaction", *statements, "commit"]


def test_transactions_are_whole_through_kills_of_the_client_and_of_the_relay(
    shop: Shop, tmp_path: Path
) -> None:
    file, expected = tmp_path / "processed", []
    for k in range(12):
        t, u = list(range(k * 10, k * 10 + 8)), [k * 2, k * 2 + 1]
        values = ", ".join(f"({each}, {k}, 'x')" for each in t)
        shop.execute(
            *in_one(
                f"insert into {{t}} values {values}",
                f"insert into {shop.name}.u values ({u[0]}), ({u[1]})",
            )
        )
        expected.append([("t", each) for each in t] + [("u", each) for each in u])
    one = arguments(shop, "t", "u", pause_seconds=0.1)
    with reading(file, **one) as killed:
        wait_until(lambda: len(seen_transactions(file)) >= 4, "some transactions")
        killed.kill()
    shop.installation.limit(SLOWLY)
    kept = insert_and_roll_back(shop.mariadb, shop.name, first=10_000, rows=ROWS)
    expected.append([("t", each) for each in kept])
    with reading(file, **one) as second:
        wait_until(lambda: len(seen_transactions(file)) >= 13, "those of the killed client")
        shop.relay.kill()
        shop.installation.limit(None)
        second.check()
        shop.relay.start()
        shop.execute(
            "xa start 'x'",
            "insert into {t} values (-3, 0, 'xa')",
            f"insert into {shop.name}.u values (-1), (-2)",
            "xa end 'x'",
            "xa prepare 'x'",
            "xa commit 'x'",
        )
        expected.append([("t", -3), ("u", -1), ("u", -2)])
        wait_until(lambda: ["t", "-3"] in seen_transactions(file)[-1].rows, "the last one", 90)
        second.check()
    seen = seen_transactions(file)
    assert all(each.is_whole for each in seen)
    once = {each.id: [(t, int(id_)) for t, id_ in each.rows] for each in seen}
    assert list(once.values()) == expected
    by_second = [each.id for each in seen if each.pid == second.pid]
    assert len(by_second) == len(set(by_second)), "only the killed client's come again"
    _new_groups_begin_with_what_is_whole(shop)


def _new_groups_begin_with_what_is_whole(shop: Shop) -> None:
    def read(group: str, start: str) -> list[list[int]]:
        shop.wait_until_published()
        own = arguments(shop, "t", start=start, idle_seconds=1, group=f"{shop.name}-{group}")
        with TransactionSubscription(**own) as found:
            return [[each.row["id"] for each in one.changes] for one in found]

    assert read("new", "latest") == []
    ends = [TopicPartition(shop.name, number, -1) for number in range(4)]
    admin = AdminClient({"bootstrap.servers": shop.kafka.bootstrap})
    for each in admin.delete_records(ends).values():
        each.result(60)
    shop.execute("insert into {t} values (-7, 0, 'after'), (-8, 0, 'after'), (-9, 0, 'after')")
    assert read("new", "latest") == [[-7, -8, -9]]
    assert read("purged", "earliest") == [[-7, -8, -9]]
    with pytest.raises(UsageError, match="Instance other publishes no BEGIN and END of these"):
        TransactionSubscription(**arguments(shop, "t") | {"instance": "other"}).__enter__()


CRASHING = "tests.support.faults.crashing_relay"


def test_transactions_whose_rows_come_again_come_whole_and_in_order(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, tmp_path: Path
) -> None:
    """At-least-once delivery repeats rows, BEGIN and END after a crash."""
    loose = {"topic": "{instance}.transactions", "delivery": "at_least_once"}
    with opened_shop(new_installation, mariadb, kafka, tmp_path, transaction=loose) as shop:
        expected = [_inserted(shop, k) for k in range(2)]
        shop.relay.stop()
        expected += [_inserted(shop, k) for k in range(2, 5)]
        crashing = RelayProcess(shop.installation, "crashing", module=CRASHING)
        crashing.start(ROMA_CRASH="before_position:1")
        crashing.wait_for_crash()
        shop.relay.start()
        shop.relay.wait_for("RUNNING")
        expected += [_inserted(shop, k) for k in range(5, 7)]
        seen = asyncio.run(_read(shop, expected[-1]))
    assert [_ids(each) for each in seen] == expected
    assert all(each.is_whole and each.id is not None for each in seen)


def test_copied_rows_come_beside_whole_transactions(shop: Shop) -> None:
    expected = [_inserted(shop, k) for k in range(3)]
    wait_until(lambda: f"{shop.name}.t" in shop.installation.tables(), "the table")
    copy = commands.roma(shop.installation, "start", f"{shop.name}.t").split()[0]
    commands.wait_for(shop.installation, copy, "DONE")
    expected += [_inserted(shop, k) for k in range(3, 5)]
    seen = asyncio.run(_read(shop, expected[-1]))
    assert [_ids(each) for each in seen if each.id is not None] == expected
    copied = [each for one in seen if one.id is None for each in one.changes]
    assert all(each.snapshot for each in copied)
    assert sorted(each.row["id"] for each in copied) == [i for ids in expected[:3] for i in ids]


def _ids(transaction: Transaction) -> list[int]:
    return [each.row["id"] for each in transaction.changes]


def _inserted(shop: Shop, k: int) -> list[int]:
    """Insert five rows in one transaction; return their ids."""
    ids = list(range(k * 10, k * 10 + 5))
    shop.execute(*in_one(*(f"insert into {{t}} values ({each}, {k}, 'x')" for each in ids)))
    return ids


async def _read(shop: Shop, last: list[int]) -> list[Transaction]:
    """Read with `async for` until the transaction with these rows, and acknowledge all."""
    found: list[Transaction] = []
    async with TransactionSubscription(**arguments(shop, "t")) as transactions:
        async for each in transactions:
            found.append(each)
            if _ids(each) == last:
                await transactions.ack()
                await transactions.commit()
                break
    return found

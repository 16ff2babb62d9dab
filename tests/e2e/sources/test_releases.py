"""Servers of every release that the embedded stack has: what is published adds up to SELECT over
kill -9, XA included, the history of the tables equals the catalogue after random DDL, and a standby
takes over.

The suite runs one release of today for a minute; `make servers` runs all (SERVERS names some, SEED
chooses the day).
"""

import os
import zlib
from contextlib import ExitStack
from typing import Any, Final

import pytest

from deploy.embedded import Kafka, SqlServer
from tests.ddl.comparing import compare
from tests.e2e.conftest import NewInstallation
from tests.e2e.failover.test_source_failover import shop
from tests.servers.availability import require
from tests.servers.running import running
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.folded_rows import fold, sorted_texts
from tests.support.rows.topic_reading import read_topic, topic_answers
from tests.support.sources.release_runs import (
    KINDS,
    XaRows,
    asked,
    carry_out,
    has_gtids,
    make_tables,
    tables_of,
    variants,
    zoo,
)
from tests.support.sources.source_pair import caught_up
from tests.support.waiting import wait_until
from tests.types.server_texts import server_rows

_ALL: Final = "SERVERS" in os.environ
_TABLES: Final = int(os.environ.get("EXAMPLES", "40" if _ALL else "10"))
_LAST: Final = 999_999
_DDL: Final = int(os.environ.get("STATEMENTS", "200" if _ALL else "30"))
"""Random statements after each of which the history that is followed is compared with the
catalogue.
"""
_LEAST_STATEMENTS: Final = 200
"""Of some 390: old releases refuse those about types and functions of later ones."""


def _published(kafka: Kafka, topic: str) -> list[dict[str, Any]]:
    """Rows and DDL in their one order."""
    topics = [each for each in (topic, f"{topic}.ddl") if topic_answers(kafka.bootstrap, each)]
    seen = [message for each in topics for message in read_topic(kafka.bootstrap, each)]
    return [each.value or {} for each in sorted(seen, key=lambda each: each.order)]


@pytest.mark.timeout(400)
@pytest.mark.parametrize(("name", "variant"), asked())
def test_what_is_published_adds_up_to_select(
    name: str, variant: str, kafka: Kafka, new_installation: NewInstallation
) -> None:
    kind = KINDS[name]
    require(kind)
    with running(kind(dict(variants(kind)[variant]))) as server:
        installation = new_installation(server, kafka, message={"row_image": "partial"})
        database = installation.name
        wanted = zoo(server, database)
        server.execute(f"create table {database}.xa_rows (id int primary key, n int)")
        with (
            RelayProcess(installation) as relay,
            server.connect() as connection,
            connection.cursor() as cursor,
            XaRows(server, database) as xa,
        ):
            relay.wait_for("RUNNING")
            xa.prepare("first")
            taken = carry_out(cursor, wanted[: len(wanted) // 3])
            relay.kill()
            taken += carry_out(cursor, wanted[len(wanted) // 3 : len(wanted) // 2])
            relay.start()
            xa.commit("first")
            xa.commit_at_once("second")
            taken += carry_out(cursor, wanted[len(wanted) // 2 :])
            xa.prepare("third")
            made = make_tables(server, database, _TABLES, zlib.crc32(name.encode()))
            relay.kill()
            xa.roll_back("third")
            xa.prepare("fourth")
            relay.start()
            xa.commit("fourth")
            server.execute(f"insert into {database}.t values ({_LAST}, 0, 'last')")
            _wait_for_last(kafka, database, relay)
            assert relay.stop() == 0
        assert taken >= _LEAST_STATEMENTS
        assert made >= _TABLES // 4
        _assert_equal(server, kafka, database)
        came = compare(server, f"{database}_ddl", zlib.crc32(name.encode()), _DDL)
        assert came.wrong == []


def _wait_for_last(kafka: Kafka, topic: str, relay: RelayProcess) -> None:
    try:
        wait_until(lambda: _has_last(kafka, topic), "the last row", 120)
    except AssertionError as exc:
        raise AssertionError(f"{exc}\n{relay.log_tail()}") from exc


def _has_last(kafka: Kafka, topic: str) -> bool:
    return topic_answers(kafka.bootstrap, topic) and any(
        each.value is not None
        and each.value["table"] == "t"
        and each.value["data"][0]["id"] == str(_LAST)
        for each in read_topic(kafka.bootstrap, topic)
    )


def _assert_equal(server: SqlServer, kafka: Kafka, database: str) -> None:
    """Every table, put together from its messages, holds what the server itself prints."""
    folded = fold(_published(kafka, database))
    compared, different = 0, {}
    for table in tables_of(server, database):
        with server.connect() as connection:
            held = sorted_texts(server_rows(connection, database, table))
        found = sorted_texts(folded.get(table, []))
        compared += len(held)
        if found != held:
            different[table] = (
                [row for row in found if row not in held][:2],
                [row for row in held if row not in found][:2],
            )
    assert different == {}
    assert compared > 100


@pytest.mark.skipif(not _ALL, reason="`make servers` runs it")
@pytest.mark.parametrize(("name", "variant"), asked())
def test_a_standby_takes_over(
    name: str, variant: str, kafka: Kafka, new_installation: NewInstallation
) -> None:
    kind = KINDS[name]
    if not has_gtids(kind):
        pytest.skip(f"{name} has no GTIDs: nothing proves what its standby holds")
    require(kind)
    options = {
        "log_slave_updates": "ON",
        **variants(kind)[variant],
        **getattr(kind, "gtid_options", {}),
    }
    with ExitStack() as stack:
        master, replica = (stack.enter_context(running(kind(dict(options)))) for _ in range(2))
        replica.replicate_from(master)
        shop_ = shop(new_installation, kafka, (master, replica))
        with RelayProcess(shop_.installation) as relay:
            relay.wait_for("RUNNING")
            shop_.write(master, 5)
            shop_.all_published()
            caught_up(replica, master)
            master.kill()
            shop_.installation.wait_for_epoch(1, "the standby read")
            shop_.write(replica, 5)
            relay.kill()
            relay.start()
            shop_.write(replica, 5)
            shop_.all_published()
            assert relay.stop() == 0

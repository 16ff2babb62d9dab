"""Positions that operators set beyond an event that began an epoch: a switch to another server, a
raise of the order keys.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
import tomli_w
from typer.testing import CliRunner, Result

from deploy.embedded import Kafka, MariaDB, MySQL, SqlServer
from relay.cli import app
from tests.e2e.conftest import NewInstallation
from tests.servers.availability import require
from tests.servers.running import running
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.counting_load import binlog_end
from tests.support.sources.source_pair import caught_up, promote
from tests.support.waiting import wait_until

Orders = dict[int, list[str]]


def orders_of(kafka: Kafka, topic: str) -> Orders:
    """The order keys of each row, in the order of its messages."""
    found: Orders = {}
    for each in read_topic(kafka.bootstrap, topic):
        found.setdefault(int((each.value or {})["data"][0]["id"]), []).append(each.order)
    return found


def wait_for_counts(kafka: Kafka, topic: str, counts: dict[int, int]) -> Orders:
    """Wait until each row was published so often."""
    wait_until(
        lambda: {row: len(orders) for row, orders in orders_of(kafka, topic).items()} == counts,
        f"messages {counts}",
    )
    return orders_of(kafka, topic)


def inserter(database: SqlServer, name: str) -> Callable[[int], tuple[str, int]]:
    """Insert a row; return the binlog coordinates before it."""

    def insert(number: int) -> tuple[str, int]:
        before = binlog_end(database)
        database.execute(f"insert into {name}.t values ({number}, 0, '')")
        return before

    return insert


def set_position(
    installation: Installation, at: tuple[str, int], *more: str, instance: str = "shop"
) -> Result:
    place = ("--file", at[0], "--offset", str(at[1]))
    return roma(installation, "set", instance, *place, *more, "--yes", instance)


def roma(installation: Installation, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["position", *arguments, "--config", str(installation.file)])


@pytest.fixture(
    params=[MariaDB, pytest.param(MySQL, marks=pytest.mark.long)], ids=lambda kind: kind.name
)
def pair(request: pytest.FixtureRequest) -> Iterator[tuple[SqlServer, SqlServer]]:
    """A master and its replica."""
    kind: type[SqlServer] = request.param
    require(kind)
    with ExitStack() as stack:
        master, replica = (
            stack.enter_context(running(kind({"log_slave_updates": "ON"}))) for _ in range(2)
        )
        replica.replicate_from(master)
        yield master, replica


def test_a_position_of_the_former_server_does_not_return_after_a_switch(
    pair: tuple[SqlServer, SqlServer], kafka: Kafka, new_installation: NewInstallation
) -> None:
    master, replica = pair
    installation = new_installation(
        master,
        kafka,
        source={
            "standby": {"host": replica.host, "port": replica.port},
            "heartbeat_seconds": 0.2,
        },
        failover={
            "heartbeat_ha_enable": True,
            "detecting_interval_seconds": 0.2,
            "retry_threshold": 2,
        },
    )
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        before, after = inserter(master, name), inserter(replica, name)
        early = binlog_end(replica)
        before(1)
        before(2)
        had = wait_for_counts(kafka, name, {1: 1, 2: 1})
        caught_up(replica, master)
        master.kill()
        installation.wait_for_epoch(1, "the replica read")
        promote(replica)
        third = after(3)
        had |= wait_for_counts(kafka, name, {1: 1, 2: 1, 3: 1})
        after(4)
        wait_for_counts(kafka, name, {1: 1, 2: 1, 3: 1, 4: 1})

        done = set_position(installation, third, "--as-new")
        assert done.exit_code == 0, done.output
        found = wait_for_counts(kafka, name, {1: 1, 2: 1, 3: 2, 4: 2})
        assert found[3][0] == had[3][0]
        assert found[3][1] > found[4][0], "a new order key"
        installation.wait_for_epoch(2, "the epoch of the new position")
        refused = set_position(installation, early)
        assert refused.exit_code == 1, "those rows have order keys of other epochs"
        assert "MOVE_REFUSED" in refused.output
        fifth = after(5)
        wait_for_counts(kafka, name, {1: 1, 2: 1, 3: 2, 4: 2, 5: 1})
        relay.kill()
        relay.start()
        relay.wait_for("RUNNING")
        assert set_position(installation, fifth).exit_code == 0
        last = wait_for_counts(kafka, name, {1: 1, 2: 1, 3: 2, 4: 2, 5: 2})
        assert last[5][0] == last[5][1] > max(last[3] + last[4]), "the order key that it had"


def test_a_move_back_over_a_raise_of_the_order_keys_needs_new_ones(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name, other = installation.name, f"{installation.name}_other"
    mariadb.execute(
        f"create database {other}", f"create table {other}.t (id int primary key, n int, v text)"
    )
    (first,) = installation.document["instances"]
    installation.document["instances"].append(
        {
            **first,
            "name": "other",
            "source": {**first["source"], "server_id": first["source"]["server_id"] + 1},
            "filter": {"filter_regex": f"{other}\\..*"},
        }
    )
    installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")
    names = (name, other)
    installation.map(
        topics=[{"logicDb": each, "topic": each} for each in names],
        dbs=[{"logicDb": each, "realDbs": each} for each in names],
    )
    insert = inserter(mariadb, name)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        wait_until(
            lambda: {each.state for each in installation.statuses()} == {"RUNNING"}, "both run"
        )
        insert(1)
        second = insert(2)
        wait_for_counts(kafka, name, {1: 1, 2: 1})
        inserter(mariadb, other)(1)
        (above,) = wait_for_counts(kafka, other, {1: 1})[1]
        raised = roma(installation, "raise-floor", "shop", "--above", "other", "--yes", "shop")
        assert raised.exit_code == 0, raised.output
        insert(3)
        had = wait_for_counts(kafka, name, {1: 1, 2: 1, 3: 1})
        assert had[3][0] > above > max(had[1] + had[2])
        fourth = insert(4)
        had = wait_for_counts(kafka, name, {1: 1, 2: 1, 3: 1, 4: 1})

        refused = set_position(installation, second)
        assert (refused.exit_code, "--as-new" in refused.output) == (1, True), refused.output
        done = set_position(installation, fourth)
        assert done.exit_code == 0, done.output
        assert wait_for_counts(kafka, name, {1: 1, 2: 1, 3: 1, 4: 2})[4] == had[4] * 2
        relay.kill()
        relay.start()
        relay.wait_for("RUNNING")
        done = set_position(installation, second, "--as-new")
        assert done.exit_code == 0, done.output
        found = wait_for_counts(kafka, name, {1: 1, 2: 2, 3: 2, 4: 3})
        assert found[4][2] > found[3][1] > found[2][1] > max(above, found[4][0])

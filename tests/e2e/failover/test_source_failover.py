"""The source's standby takes over only when it has all that was published: nothing lost, nothing
twice, in order.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace

import pytest
import tomli_w

from deploy.embedded import Kafka, MariaDB, MySQL, SqlServer
from relay.audit import AuditTrail
from relay.model.failover import ServerRole
from relay.state import StandingOrders
from tests.e2e.conftest import NewInstallation
from tests.servers.availability import require
from tests.servers.running import running
from tests.support.faults.tcp_gate import TcpGate
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.counting_load import assert_in_order
from tests.support.sources.source_pair import (
    acknowledged,
    apply_again,
    caught_up,
    fetched_all,
    past_replication,
    promote,
    semi_synchronous,
    stop_applying,
)
from tests.support.waiting import wait_until

_KEYS = 20
_MANY = 16_384
"""The rows of a transaction that is published in parts."""


@dataclass
class Shop:
    """One installation over a pair, and how many changes its table has seen."""

    installation: Installation
    kafka: Kafka
    changes: int = 0

    def write(self, server: SqlServer, transactions: int) -> None:
        """Raise the counters of a few keys in each transaction."""
        table = f"{self.installation.name}.t"
        updates = (
            f"update {table} set n = n + 1 where id between {first} and {first + 2}"
            for first in range(1, transactions + 1)
        )
        if not self.changes:
            server.execute(
                f"insert into {table} (id, n) values "
                f"{','.join(f'({key}, 0)' for key in range(1, _KEYS + 1))}"
            )
            self.changes += _KEYS
        server.execute(*updates)
        self.changes += 3 * transactions

    def published(self) -> int:
        return len(read_topic(self.kafka.bootstrap, self.installation.name))

    def all_published(self) -> None:
        wait_until(lambda: self.published() >= self.changes, "everything published")
        seen = read_topic(self.kafka.bootstrap, self.installation.name)
        assert len(seen) == self.changes
        assert_in_order(seen)

    def order(self, change: Callable[[StandingOrders], StandingOrders]) -> None:
        self.installation.failover.change_orders(
            "shop", lambda standing: replace(change(standing), by="ann", accepted_by="ann")
        )

    def sees(self, holds: Callable[[str], bool], what: str) -> None:
        """Wait for the reason in the view of both servers."""
        wait_until(
            lambda: (
                (view := self.installation.failover.view("shop")) is not None and holds(view.reason)
            ),
            what,
        )

    def errant(self, role: ServerRole) -> str:
        view = self.installation.failover.view("shop")
        server = view.server(role) if view is not None else None
        return server.errant if server is not None else ""


@pytest.fixture(scope="module", params=[MySQL, MariaDB], ids=lambda kind: kind.name)
def pair(request: pytest.FixtureRequest) -> Iterator[tuple[SqlServer, SqlServer]]:
    kind: type[SqlServer] = request.param
    require(kind)
    with ExitStack() as stack:
        master, replica = (
            stack.enter_context(running(kind({"log_slave_updates": "ON"}))) for _ in range(2)
        )
        replica.replicate_from(master)
        yield master, replica


def shop(
    make: NewInstallation,
    kafka: Kafka,
    pair: tuple[SqlServer, SqlServer],
    more: Mapping[str, object] | None = None,
    **source: object,
) -> Shop:
    master, replica = pair
    standby = {"host": replica.host, "port": replica.port}
    rules = {"detecting_interval_seconds": 0.2, "retry_threshold": 2, "heartbeat_ha_enable": True}
    source = {"standby": standby, "heartbeat_seconds": 0.2, **source}
    return Shop(make(master, kafka, source=source, failover=rules, **(more or {})), kafka)


@pytest.mark.parametrize("pair", [MariaDB], indirect=True, ids=lambda kind: kind.name)
def test_without_gtids_the_standby_is_read_only_where_repeats_are_allowed(
    pair: tuple[SqlServer, SqlServer], kafka: Kafka, new_installation: NewInstallation
) -> None:
    master, replica = pair
    shop_ = shop(new_installation, kafka, pair, gtid=False)
    with RelayProcess(shop_.installation) as relay:
        relay.wait_for("RUNNING")
        shop_.write(master, 1)
        shop_.all_published()
        master.kill()
        assert "nothing proves" in relay.wait_for("STOPPED", "SWITCH_NEEDS_GTID").reason
        master.start()
        relay.wait_for("RUNNING")
        shop_.write(master, 1)
        shop_.all_published()
        caught_up(replica, master)
        relay.stop()
        shop_.installation.document["instances"][0]["failover"] |= {
            "switch_without_gtid": "fallback",
            "fallback_interval_seconds": 2,
        }
        shop_.installation.file.write_text(
            tomli_w.dumps(shop_.installation.document), encoding="utf-8"
        )
        master.kill()
        relay.start()
        assert relay.wait_for("RUNNING").epoch == 1
        wait_until(lambda: shop_.published() > shop_.changes, "the last change repeated")
        assert_order_rises(shop_)
    master.start()


def assert_order_rises(shop_: Shop) -> None:
    """What was repeated came behind everything before it."""
    newest: dict[int, str] = {}
    for each in read_topic(shop_.kafka.bootstrap, shop_.installation.name):
        assert each.order > newest.get(each.partition, "")
        newest[each.partition] = each.order


@pytest.mark.parametrize("pair", [MariaDB], indirect=True, ids=lambda kind: kind.name)
def test_a_virtual_address_may_move_to_a_server_that_has_everything(
    pair: tuple[SqlServer, SqlServer], kafka: Kafka, new_installation: NewInstallation
) -> None:
    master, replica = pair
    with TcpGate(master.host, master.port) as gate:
        source = {"host": "127.0.0.1", "port": gate.port, "heartbeat_seconds": 0.2}
        rules = {"detecting_interval_seconds": 0.2, "virtual_address": True}
        shop_ = Shop(new_installation(master, kafka, source=source, failover=rules), kafka)
        with RelayProcess(shop_.installation) as relay:
            relay.wait_for("RUNNING")
            shop_.write(master, 3)
            shop_.all_published()
            caught_up(replica, master)
            gate.lead_to(replica.host, replica.port)
            shop_.installation.wait_for_epoch(1, "the other server read")
            shop_.write(master, 3)
            shop_.all_published()


@pytest.mark.parametrize(
    "pair",
    [MariaDB, pytest.param(MySQL, marks=pytest.mark.long)],
    indirect=True,
    ids=lambda kind: kind.name,
)
def test_a_half_published_transaction_goes_on_at_the_standby(
    pair: tuple[SqlServer, SqlServer], kafka: Kafka, new_installation: NewInstallation
) -> None:
    master, replica = pair
    slowly: dict[str, object] = {
        "buffer": {"buffer_size": 16, "batch_mode": "ITEMSIZE"},
        "transaction": {"split_bytes": 200_000},
        "flow": {"rows_per_second": 2000},
    }
    shop_ = shop(new_installation, kafka, pair, more=slowly)
    table = f"{shop_.installation.name}.t"
    with RelayProcess(shop_.installation) as relay:
        relay.wait_for("RUNNING")
        relay.stop()
        rows = [f"({number}, 0, repeat('x', 400))" for number in range(1, _MANY + 1)]
        inserts = (
            f"insert into {table} values {','.join(rows[first : first + 1024])}"
            for first in range(0, len(rows), 1024)
        )
        undone = f"insert into {table} select id + {_MANY}, n, v from {table} where id <= 1000"
        scratch = f"{shop_.installation.name}.scratch"
        temporary = (
            f"create temporary table {scratch} (a int) engine=myisam",
            f"insert into {scratch} values (1)",
        )
        master.execute(
            "begin",
            next(inserts),
            "savepoint s",
            undone,
            *temporary,
            "rollback to savepoint s",
            *inserts,
            "commit",
        )
        caught_up(replica, master)
        relay.start()
        wait_until(lambda: relay.wait_for("RUNNING").published_rows >= 1000, "a part published")
        master.kill()
        wait_until(lambda: shop_.published() >= _MANY, "the rest published")
    seen = sorted(read_topic(kafka.bootstrap, shop_.installation.name), key=lambda each: each.order)
    assert [int((each.value or {})["data"][0]["id"]) for each in seen] == list(range(1, _MANY + 1))
    assert {_epoch(each.order) for each in seen} == {0, 1}, (
        "the master died too late: nothing was left of the transaction"
    )
    master.start()


def _epoch(order: str) -> int:
    """The epoch in a row's pair: the upper 11 of 63 bits."""
    return int(order.partition(".")[2]) >> 52


def test_a_dead_master_is_left_for_its_standby_once_that_has_everything(
    pair: tuple[SqlServer, SqlServer], kafka: Kafka, new_installation: NewInstallation
) -> None:
    master, replica = pair
    semi_synchronous(master, replica)
    shop_ = shop(new_installation, kafka, pair)
    with RelayProcess(shop_.installation) as relay:
        relay.wait_for("RUNNING")
        shop_.write(master, 10)
        caught_up(replica, master)
        stop_applying(replica)
        shop_.write(master, 7)
        shop_.all_published()
        # The replica fetched what was acknowledged; what it did not apply is what it lacks.
        assert acknowledged(master) >= 17
        fetched_all(replica, master)

        shop_.order(lambda standing: replace(standing, hold=True))
        master.kill()
        shop_.sees(lambda reason: "An operator has forbidden a switch" in reason, "the hold")
        shop_.order(lambda standing: replace(standing, hold=False))
        assert (
            "standby is 7 transactions behind" in relay.wait_for("WAITING", "STANDBY_BEHIND").reason
        )
        apply_again(replica)
        assert relay.wait_for("RUNNING").epoch == 1
        promote(replica)
        shop_.write(replica, 10)
        shop_.all_published()

        master.start()
        master.replicate_from(replica)
        caught_up(master, replica)
        past_replication(master, f"create database errant_{shop_.installation.name}")
        wait_until(lambda: bool(shop_.errant(ServerRole.MASTER)), "the errant transaction named")
        shop_.order(lambda standing: replace(standing, switch_to=ServerRole.MASTER))
        shop_.write(replica, 10)
        shop_.installation.wait_for_epoch(2, "back at the master")
        table = f"{shop_.installation.name}.t"
        wait_until(lambda: _sum(master, table) == _sum(replica, table), "the master has it all")
        promote(master)
        shop_.write(master, 5)
        shop_.all_published()

        master.kill()
        assert "standby is" in relay.wait_for("WAITING", "STANDBY_BEHIND").reason
        view = shop_.installation.failover.view("shop")
        assert view is not None
        lacking = next(server.lacking for server in view.servers if server.role == "standby")
        shop_.order(lambda standing: replace(standing, accepted=lacking))
        assert relay.wait_for("RUNNING").epoch == 3
        switches = shop_.installation.failover.history("shop")
        assert [
            (each.to, each.epoch, each.asked_by, bool(each.lost), each.accepted_by)
            for each in switches
        ] == [
            ("standby", 3, "", True, "ann"),
            ("master", 2, "ann", False, ""),
            ("standby", 1, "", False, ""),
        ]
        assert switches[1].errant
        settings = shop_.installation.settings
        entry = AuditTrail(settings.kafka, settings.installation).entries(1)[0]
        assert (entry.actor, entry.act, entry.after["lost"]) == (
            "ann",
            "source.switched",
            switches[0].lost,
        )
    master.start()


def _sum(server: SqlServer, table: str) -> int:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"select sum(n) from {table}")
        row = cursor.fetchone()
    return int(row[0]) if row is not None else -1

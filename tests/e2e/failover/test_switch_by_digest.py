"""Without GTIDs a standby takes over where digests show what was published: nothing lost, nothing
twice, or a stop by name.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from time import time

import pytest

from deploy.embedded import Kafka, MySQL, SqlServer
from relay.model.failover import ServerRole
from tests.e2e.conftest import NewInstallation
from tests.servers.availability import require
from tests.servers.running import running
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic
from tests.support.sources.source_pair import (
    applied_all,
    apply_again,
    follow_from,
    holds_all,
    promote,
    stop_applying,
)
from tests.support.sources.source_reading import end_of
from tests.support.waiting import wait_until

_WITHOUT_GTIDS = {"gtid_mode": "OFF", "enforce_gtid_consistency": "OFF"}


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[SqlServer, SqlServer]]:
    require(MySQL)
    with ExitStack() as stack:
        master, replica = (stack.enter_context(running(MySQL(_WITHOUT_GTIDS))) for _ in range(2))
        follow_from(replica, master, end_of(master))
        yield master, replica


class Shop:
    """One installation over a pair.

    `rounds` counts transactions that are all alike but for their second, two changes each.
    """

    def __init__(
        self, make: NewInstallation, kafka: Kafka, pair: tuple[SqlServer, SqlServer]
    ) -> None:
        master, replica = pair
        rules = {
            "detecting_interval_seconds": 0.2,
            "retry_threshold": 2,
            "heartbeat_ha_enable": True,
        }
        source = {"standby": {"host": replica.host, "port": replica.port}, "heartbeat_seconds": 0.2}
        failover = {**rules, "switch_without_gtid": "digest", "fallback_interval_seconds": 5}
        self.installation: Installation = make(master, kafka, source=source, failover=failover)
        self._bootstrap = kafka.bootstrap
        self.counted = self.alike = 0

    @property
    def table(self) -> str:
        return f"{self.installation.name}.t"

    def write(self, server: SqlServer, rounds: int, *session: str) -> None:
        """Raise a counter, and insert and delete the same row, so often."""
        statements = [f"insert into {self.table} (id, n) values (1, 0)"] if not self.counted else []
        for _ in range(rounds):
            statements += [
                f"insert into {self.table} (id, n) values (9, 0)",
                f"delete from {self.table} where id = 9",
            ]
            statements.append(f"update {self.table} set n = n + 1 where id = 1")
        server.execute(*session, *statements)
        self.counted += rounds + (not self.counted)
        self.alike += 2 * rounds

    def write_alike(self, server: SqlServer, rounds: int, *session: str) -> None:
        """Insert and delete the same row, so often."""
        server.execute(
            *session,
            *[
                f"insert into {self.table} (id, n) values (9, 0)",
                f"delete from {self.table} where id = 9",
            ]
            * rounds,
        )
        self.alike += 2 * rounds

    def all_published(self) -> None:
        """Every change came once: the counter as it counted, the others as often as they were made,
        in turn.
        """
        wait_until(lambda: len(self._seen()) >= self.counted + self.alike, "everything published")
        seen = sorted(self._seen(), key=lambda each: each.order)
        values = [each.value for each in seen if each.value is not None]
        assert [
            int(value["data"][0]["n"]) for value in values if value["data"][0]["id"] == "1"
        ] == list(range(self.counted))
        assert [value["type"] for value in values if value["data"][0]["id"] == "9"] == [
            "INSERT",
            "DELETE",
        ] * (self.alike // 2)

    def epoch_is(self, epoch: int) -> None:
        self.installation.wait_for_epoch(epoch, f"epoch {epoch}")

    def _seen(self) -> list[Seen]:
        return read_topic(self._bootstrap, self.installation.name)


def next_second() -> None:
    """Return when the clock shows a later second than at the call."""
    begun_s = int(time())
    wait_until(lambda: int(time()) > begun_s, "the next second")


def test_a_standby_is_read_on_behind_what_was_published(
    pair: tuple[SqlServer, SqlServer], kafka: Kafka, new_installation: NewInstallation
) -> None:
    master, replica = pair
    shop = Shop(new_installation, kafka, pair)
    with RelayProcess(shop.installation) as relay:
        relay.wait_for("RUNNING")
        # The first second that is read holds no landmark.
        shop.write(master, 1)
        next_second()
        for _ in range(3):
            shop.write(master, 20)
            shop.all_published()
        applied_all(replica, master)

        # It lags among transactions that are alike, and is waited for.
        stop_applying(replica)
        shop.write_alike(master, 12)
        shop.all_published()
        holds_all(replica, master)
        master.kill()
        reason = relay.wait_for("WAITING", "STANDBY_BEHIND").reason
        assert "as digests show, and its replication is stopped" in reason
        apply_again(replica)
        assert relay.wait_for("RUNNING").epoch == 1
        promote(replica)
        begun = end_of(replica)
        shop.write(replica, 20)
        shop.all_published()

        # Back by hand, under load: the server that serves is left when the other one has
        # everything.
        master.start()
        promote(master)
        follow_from(master, replica, begun)
        shop.installation.failover.change_orders(
            "shop", lambda standing: replace(standing, switch_to=ServerRole.MASTER, by="ann")
        )
        for _ in range(10):
            shop.write(replica, 5)
        shop.epoch_is(2)
        applied_all(master, replica)
        promote(master)
        missed = end_of(master)
        shop.write(master, 5)
        shop.all_published()

        # The standby replicates nothing any more: what it lacks it will never have.
        master.kill()
        assert (
            "has applied everything that it received"
            in relay.wait_for("STOPPED", "STANDBY_LACKS").reason
        )
        master.start()
        assert relay.wait_for("RUNNING").epoch == 2
        shop.write(master, 5)
        shop.all_published()
        follow_from(replica, master, missed)


def test_transactions_that_nothing_tells_apart_are_not_guessed_between(
    pair: tuple[SqlServer, SqlServer], kafka: Kafka, new_installation: NewInstallation
) -> None:
    master, replica = pair
    shop = Shop(new_installation, kafka, pair)
    with RelayProcess(shop.installation) as relay:
        relay.wait_for("RUNNING")
        shop.write_alike(master, 10, "set timestamp = 1700000000")
        shop.all_published()
        applied_all(replica, master)
        master.kill()
        assert "in a later second" in relay.wait_for("STOPPED", "PLACE_AMBIGUOUS").reason
        master.start()
        relay.wait_for("RUNNING")
        shop.write(master, 5)
        shop.all_published()
        applied_all(replica, master)
        master.kill()
        shop.epoch_is(1)
        promote(replica)
        shop.write(replica, 5)
        shop.all_published()
    master.start()

"""MariaDB domains whose numbers do not rise (gtid_strict_mode=OFF), and domains that were deleted:
what is there is read, once.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Final

import pytest

from deploy.embedded import DebianMariaDB, MariaDB, SqlServer
from relay.errors import SourceLostTransactions, StandbyBehind, StandbyDiverged, StandbyPurged
from relay.model.change import TransactionEnd
from relay.model.failover import Published, ServerRole
from relay.model.positions.position import SourceIdentity, SourcePosition
from relay.settings import StartSettings
from relay.source import ServerWatch, check_start, proven_position
from relay.source.positions.resume import completed
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.server_facts import read_server_facts
from tests.servers.running import factory
from tests.support.sources.source_reading import ask, end_of, executed, read, source_settings
from tests.support.waiting import wait_until

_LOOSE: Final[dict[str, Any]] = {"gtid_strict_mode": "OFF"}
_MASTER, _REPLICA = 31, 32


@dataclass
class Loose:
    """A master and a replica of it that takes writes of its own in the same domain."""

    master: SqlServer
    replica: SqlServer
    rows: int = 0

    def insert(self, server: SqlServer, times: int = 1) -> str:
        """Insert rows, wait until the replica has them, and return the GTID of the last."""
        for _ in range(times):
            self.rows += 1
            server.execute(f"INSERT INTO d.t VALUES ({self.rows})")
        found = f"SELECT COUNT(*) FROM d.t WHERE id = {self.rows}"
        wait_until(lambda: ask(self.replica, found)[0][0] == 1, "the replica has the row")
        return executed(server)

    def position(self) -> SourcePosition:
        """Return the end of the replica's binlog as a saved position."""
        settings = source_settings(self.replica)
        with closing(SourceConnection(settings)) as connection:
            return completed(
                connection, settings, read_server_facts(connection), end_of(self.replica)
            )

    def after(self, position: SourcePosition) -> list[str]:
        """Return the GTIDs that the relay reads of the replica from a position on, by GTID."""
        items = read(source_settings(self.replica), position, end_of(self.replica))
        return [item.gtid for item in items if isinstance(item, TransactionEnd)]


@pytest.fixture(
    params=[MariaDB, pytest.param(DebianMariaDB, marks=pytest.mark.long)],
    ids=lambda kind: kind.name,
)
def loose(request: pytest.FixtureRequest) -> Iterator[Loose]:
    with factory(request.param) as start:
        master = start({"server_id": _MASTER, **_LOOSE})
        replica = start({"server_id": _REPLICA, "log_slave_updates": "ON", **_LOOSE})
        replica.replicate_from(master)
        master.execute("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
        pair = Loose(master, replica)
        assert pair.insert(master) == "0-31-3"
        yield pair


def _published(gtid_set: str) -> Published:
    return Published(SourceIdentity("", 1, 0), gtid_set)


def test_a_source_whose_numbers_fall_is_read_on_by_gtid(loose: Loose) -> None:
    assert loose.insert(loose.replica, 5) == "0-32-8"
    own = loose.position()
    loose.insert(loose.master, 2)
    assert executed(loose.replica) == "0-31-5"
    fallen = loose.position()
    assert loose.after(own) == ["0-31-4", "0-31-5"]
    loose.replica.execute("FLUSH BINARY LOGS")
    loose.insert(loose.replica)
    assert loose.after(own) == ["0-31-4", "0-31-5", "0-32-9"]
    assert loose.after(fallen) == ["0-32-9"]


def test_what_such_a_source_has_not_is_missed_by_the_server_that_wrote_it(loose: Loose) -> None:
    loose.insert(loose.replica, 5)
    settings = source_settings(loose.replica)
    ahead = replace(
        loose.position(), gtid_set="0-31-6"
    )  # below the domain's last number, and not there
    with pytest.raises(SourceLostTransactions, match="does not have 0-31-6") as lost:
        check_start(settings, ahead, StartSettings())
    assert "Start the server, or restore the binlog" in lost.value.way_out


def test_a_standby_that_passed_a_number_by_its_own_writes_is_behind(loose: Loose) -> None:
    loose.insert(loose.replica, 5)
    with pytest.raises(StandbyBehind, match="is 2 transactions behind: it lacks 0-31-5"):
        proven_position(source_settings(loose.replica), _published("0-31-5"))
    watch = ServerWatch(ServerRole.STANDBY, source_settings(loose.replica), 1)
    assert str(watch.poll().held.kept_of(watch.seen.held.gtids.with_gtid("0-31-5"))) == "0-31-3"
    watch.close()


@pytest.mark.parametrize("flushed", [False, True], ids=["one file", "several files"])
def test_a_standby_with_writes_among_the_published_ones_is_no_place_to_read_on(
    loose: Loose, flushed: bool
) -> None:
    """Its own 0-32-4 to 0-32-8 precede 0-31-5, and the master that was read never had them."""
    loose.insert(loose.replica, 5)
    if flushed:
        loose.replica.execute("FLUSH BINARY LOGS")
    published = loose.insert(loose.master, 2)
    loose.insert(loose.replica)
    with pytest.raises(StandbyDiverged, match="out of the order of their numbers"):
        proven_position(source_settings(loose.replica), _published(published))


@pytest.mark.parametrize("more", [0, 1], ids=["the last", "one of several"])
def test_a_smaller_number_after_the_published_one_is_no_place_to_read_on(
    loose: Loose, more: int
) -> None:
    published = loose.insert(loose.replica, 5)
    loose.insert(loose.master)
    loose.insert(loose.replica, more)
    with pytest.raises(StandbyDiverged, match="out of the order of their numbers"):
        proven_position(source_settings(loose.replica), _published(published))


def test_a_standby_that_was_promoted_in_order_is_read_on(loose: Loose) -> None:
    """Several servers wrote to the domain, one after the other."""
    published = loose.insert(loose.master, 2)
    loose.replica.execute("STOP SLAVE", "FLUSH BINARY LOGS")
    loose.insert(loose.replica, 2)
    loose.replica.execute("FLUSH BINARY LOGS")
    place = proven_position(source_settings(loose.replica), _published(published))
    assert place.position.gtid_set == published == "0-31-5"
    assert loose.after(place.position) == ["0-32-6", "0-32-7"]


def test_a_purged_own_write_is_purged_and_not_passed_over(loose: Loose) -> None:
    published = loose.insert(loose.replica, 5)
    loose.insert(loose.master)
    loose.replica.execute("FLUSH BINARY LOGS", "FLUSH BINARY LOGS")
    newest = str(ask(loose.replica, "SHOW BINARY LOGS")[-1][0])
    wait_until(lambda: _purged_to(loose.replica, newest), "the old binlogs purged")
    with pytest.raises(StandbyPurged, match="up to 0-31-4"):
        proven_position(source_settings(loose.replica), _published(published))


def test_a_deleted_domain_takes_no_transaction_away(loose: Loose) -> None:
    loose.replica.execute("SET gtid_domain_id = 7", "CREATE DATABASE other")
    loose.replica.execute("FLUSH BINARY LOGS")
    newest = str(ask(loose.replica, "SHOW BINARY LOGS")[-1][0])
    before = loose.position()
    assert before.gtid_set == "0-31-3,7-32-1"
    wait_until(lambda: _purged_to(loose.replica, newest), "the old binlogs purged")
    loose.replica.execute("FLUSH BINARY LOGS DELETE_DOMAIN_ID=(7)")
    gtid = loose.insert(loose.master)
    assert loose.after(before) == [gtid]
    elsewhere = replace(
        before, gtid_set="0-31-4,7-32-1", binlog=before.binlog._replace(file="binlog.000001")
    )
    with pytest.raises(SourceLostTransactions, match="does not have 7-32-1"):
        check_start(source_settings(loose.replica), elsewhere, StartSettings())


def _purged_to(server: SqlServer, file: str) -> bool:
    server.execute(f"PURGE BINARY LOGS TO '{file}'")
    return str(ask(server, "SHOW BINARY LOGS")[0][0]) == file

"""The proof on real pairs of servers: what a replica has, lacks, has lost, or has in another's
place.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

import pytest

from deploy.embedded import MariaDB, MySQL, SqlServer
from relay.errors import StandbyBehind, StandbyDiverged, StandbyPurged, SwitchNeedsGtid
from relay.model.failover import Published, ServerRole
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import SourceIdentity
from relay.source import ServerWatch, proven_position
from tests.servers.availability import require
from tests.servers.running import running
from tests.support.sources.source_reading import ask, executed, source_settings
from tests.support.waiting import wait_until

_STOP: Final = {"mysql": "STOP REPLICA", "mariadb": "STOP SLAVE"}


@dataclass(frozen=True)
class Pair:
    """A master, and a replica of it that stands still: `common` is what both have, `ahead` what the
    master has beyond.
    """

    master: SqlServer
    replica: SqlServer
    common: str
    ahead: str


@pytest.fixture(scope="module", params=[MySQL, MariaDB], ids=lambda kind: kind.name)
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    kind: type[SqlServer] = request.param
    require(kind)
    with ExitStack() as stack:
        master, replica = (
            stack.enter_context(running(kind())),
            stack.enter_context(running(kind({"log_slave_updates": "ON"}))),
        )
        replica.replicate_from(master)
        master.execute(
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY)",
            "INSERT INTO d.t VALUES (1)",
        )
        wait_until(lambda: executed(replica) == executed(master), "the replica caught up")
        common = executed(master)
        replica.execute(_STOP[master.family])
        master.execute("INSERT INTO d.t VALUES (2)", "INSERT INTO d.t VALUES (3)")
        yield Pair(master, replica, common, executed(master))


def published(gtid_set: str, split_gtid: str = "") -> Published:
    return Published(SourceIdentity("", 1, 0), gtid_set, split_gtid)


def newest(gtid_set: str) -> str:
    """The set's last transaction alone."""
    source, _, numbers = gtid_set.rpartition(":")
    return f"{source}:{numbers.rpartition('-')[2]}" if source else gtid_set


def test_a_replica_that_has_it_all_is_read_on_behind_it(pair: Pair) -> None:
    place = proven_position(source_settings(pair.replica), published(pair.common))
    assert (place.position.gtid_set, place.lost, place.left_out) == (pair.common, "", "")
    assert place.position.identity.server_id == pair.replica.port


def test_a_replica_that_lags_is_counted(pair: Pair) -> None:
    with pytest.raises(StandbyBehind, match="is 2 transactions behind"):
        proven_position(source_settings(pair.replica), published(pair.ahead))


def test_a_half_published_transaction_is_asked_for_too(pair: Pair) -> None:
    with pytest.raises(StandbyBehind, match=r"is \d transactions behind"):
        proven_position(source_settings(pair.replica), published(pair.common, newest(pair.ahead)))


def test_an_accepted_loss_is_named_and_read_on_behind(pair: Pair) -> None:
    place = proven_position(
        source_settings(pair.replica), published(pair.ahead), accepted=pair.ahead
    )
    assert place.position.gtid_set == pair.common
    assert place.lost == str(GtidSet.parse(pair.ahead).without(GtidSet.parse(pair.common)))


def test_without_gtids_there_is_no_proof(pair: Pair) -> None:
    for foreign in (
        "",
        "0-1-5" if pair.master.family == "mysql" else "11111111-1111-1111-1111-111111111111:1",
    ):
        with pytest.raises(SwitchNeedsGtid):
            proven_position(source_settings(pair.replica), published(foreign))


def test_a_watch_sees_who_answers_and_counts_who_does_not(pair: Pair) -> None:
    watch = ServerWatch(ServerRole.STANDBY, source_settings(pair.replica), 0.1)
    seen = watch.poll()
    assert (seen.answers, seen.executed, seen.server_id, seen.failures) == (
        True,
        pair.common,
        pair.replica.port,
        0,
    )
    pair.replica.pause()
    try:
        assert watch.poll().failures == 1
        assert watch.poll().executed == pair.common
    finally:
        pair.replica.resume()
    assert watch.poll().answers
    watch.close()


def test_another_transaction_of_the_same_number_is_not_taken_for_ours(pair: Pair) -> None:
    """Last but one: from here on the replica has a transaction of its own."""
    pair.replica.execute("CREATE DATABASE errant")
    if pair.master.family == "mysql":
        assert (
            len(GtidSet.parse(executed(pair.replica)).without(GtidSet.parse(pair.ahead)).intervals)
            == 1
        )
        with pytest.raises(StandbyBehind):
            proven_position(source_settings(pair.replica), published(pair.ahead))
        return
    domain, server, number = pair.common.split("-")
    with pytest.raises(StandbyDiverged, match="although it has executed later"):
        proven_position(
            source_settings(pair.replica), published(f"{domain}-{server}-{int(number) + 1}")
        )
    assert (
        proven_position(source_settings(pair.replica), published(pair.common)).position.gtid_set
        == pair.common
    )


def test_a_replica_that_purged_its_binlog_is_named(pair: Pair) -> None:
    pair.replica.execute("CREATE DATABASE later", "FLUSH BINARY LOGS", "FLUSH BINARY LOGS")
    files = [str(row[0]) for row in ask(pair.replica, "SHOW BINARY LOGS")]
    wait_until(lambda: _purged_to(pair.replica, files[-1]), "the old binlogs purged")
    with pytest.raises(StandbyPurged) as refused:
        proven_position(source_settings(pair.replica), published(pair.common))
    assert "accept-loss" in refused.value.way_out
    place = proven_position(
        source_settings(pair.replica), published(pair.common), accepted=executed(pair.replica)
    )
    assert place.left_out
    assert GtidSet.parse(place.position.gtid_set).covers(GtidSet.parse(executed(pair.replica)))


def _purged_to(server: SqlServer, file: str) -> bool:
    server.execute(f"PURGE BINARY LOGS TO '{file}'")
    return str(ask(server, "SHOW BINARY LOGS")[0][0]) == file

"""A place is found by digests on real replicas, which log what they replicate in bytes of their
own; MySQL 9 switches end to end.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from time import time

import pytest

from deploy.embedded import MariaDB, MySQL56, SqlServer
from relay.errors import StandbyPurged
from relay.model.change import TransactionEnd
from relay.model.positions.position import BinlogPosition, SourcePosition
from relay.model.records.resume_fingerprint import Landmark, ResumeFingerprint, Sighting
from relay.model.records.transaction_digest import Digested, TransactionDigest
from relay.model.replication import Replicating
from relay.source import SearchStart, find_landmark, open_source
from tests.servers.availability import require
from tests.servers.running import running
from tests.support.sources.purging import purge
from tests.support.sources.source_pair import (
    applied_all,
    caught_up,
    follow_from,
    promote,
    stop_applying,
)
from tests.support.sources.source_reading import ask, at, end_of, items_up_to, source_settings
from tests.support.waiting import wait_until

_KINDS = [
    (MySQL56, {"log_slave_updates": "ON"}),
    (MariaDB, {"log_slave_updates": "ON", "binlog_row_event_max_size": 1024}),
]
_MARGIN_S = 60
_LONGER_THAN_IT_RUNS_S = 86_400
# A replica cuts rows into events as its own settings say.
_SMALLER_EVENTS = {"binlog_row_event_max_size": 256}


class Pair:
    """A master and its replica with a table, and a second that is over before the first transaction
    of a test.
    """

    def __init__(self, master: SqlServer, replica: SqlServer) -> None:
        self.master, self.replica = master, replica

    def write(self, *statements: str) -> None:
        self.master.execute("use shop", *statements)

    def alike(self, rounds: int) -> None:
        self.write(*["insert into t values (9, 'x')", "delete from t where id = 9"] * rounds)

    def replicated(self) -> None:
        if self.master.family == "mysql":
            applied_all(self.replica, self.master)
        else:
            caught_up(self.replica, self.master)

    def transactions(
        self, server: SqlServer, since: BinlogPosition
    ) -> list[tuple[Digested, SourcePosition]]:
        """What a server logged since a place, and where each transaction ends."""
        digest, found = TransactionDigest(), []
        with closing(open_source(source_settings(server, gtid=False), None, at(since))) as stream:
            for item in items_up_to(stream, end_of(server)):
                digest.take(item)
                if isinstance(item, TransactionEnd) and (whole := digest.ended()) is not None:
                    found.append((whole, SourcePosition(item.position, "", item.identity)))
        return found


@pytest.fixture(scope="module", params=_KINDS, ids=lambda each: each[0].name)
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    kind, options = request.param
    require(kind)
    with ExitStack() as stack:
        master = stack.enter_context(running(kind(options)))
        replica = stack.enter_context(running(kind({**options, **_SMALLER_EVENTS})))
        if master.family == "mysql":
            follow_from(replica, master, end_of(master))
        else:
            replica.replicate_from(master)
            master.execute("grant replica monitor on *.* to relay@'%'")
        master.execute(
            "create database shop", "create table shop.t (id int primary key, v longtext)"
        )
        yield Pair(master, replica)


def place_behind(transactions: list[tuple[Digested, SourcePosition]]) -> ResumeFingerprint:
    place = ResumeFingerprint(transactions[0][0].second)
    for transaction, _ in transactions:
        place = place.behind(transaction, time() + _MARGIN_S)
    return place


def test_a_place_is_found_where_it_is(pair: Pair) -> None:
    master, replica = pair.master, pair.replica
    pair.replicated()
    here, there = end_of(master), end_of(replica)
    pair.alike(3)
    later = ask(master, "select unix_timestamp() + 1")[0][0]
    wait_until(lambda: ask(master, "select unix_timestamp()")[0][0] >= later, "the next second")
    pair.alike(3)
    pair.write(
        "begin", (
            "insert into t select 20, repeat('y', 3000)"
        ), "insert into t values (21, 'z'), (22, 'z')", "delete from t", "commit",
        "create table u like t", "alter table u add column w double",
        "insert into u values (1, 'a', 0.5)", "drop table u",
        "set timestamp = 1000000000", "insert into t values (30, 'old')",
        "set timestamp = 2100000000", "insert into t values (31, 'new')",
        "set timestamp = default", "xa start 'x'", "insert into t values (40, '')", "xa end 'x'",
        "xa prepare 'x'", "xa commit 'x'",
    )  # fmt: skip
    pair.alike(3)
    pair.replicated()
    published, applied = pair.transactions(master, here), pair.transactions(replica, there)
    assert [each for each, _ in published] == [each for each, _ in applied]
    for number in range(8, len(published) + 1):
        report = find_landmark(
            source_settings(replica), place_behind(published[:number]), _MARGIN_S
        )
        assert (report.sought.sighting, report.sought.position) == (
            Sighting.FOUND,
            applied[number - 1][1],
        )
        assert report.replication.unproven == ""
    known = SearchStart(there, surely_before=True)
    assert (
        find_landmark(source_settings(replica), place_behind(published), _MARGIN_S, known).start
        == known
    )


def test_a_young_binlog_proves_no_landmark_that_nothing_is_known_before(pair: Pair) -> None:
    pair.replicated()
    here, there = end_of(pair.master), end_of(pair.replica)
    pair.alike(1)
    pair.replicated()
    first = pair.transactions(pair.master, here)[0][0]
    digest = first.digest.hex()
    place = ResumeFingerprint(
        first.second, landmark=Landmark(first.second, digest, ""), chain=digest, last=digest
    )
    young = find_landmark(source_settings(pair.replica), place, _LONGER_THAN_IT_RUNS_S)
    assert (young.sought.sighting, young.start.surely_before) == (Sighting.UNPROVEN, False)
    old = find_landmark(
        source_settings(pair.replica), place, _MARGIN_S, SearchStart(there, surely_before=True)
    )
    assert old.sought.position == pair.transactions(pair.replica, there)[0][1]


def test_what_a_replica_lacks_is_counted_and_what_it_will_never_get_is_told(pair: Pair) -> None:
    master, replica = pair.master, pair.replica
    pair.replicated()
    here = end_of(master)
    pair.write("insert into t values (50, '')")
    pair.replicated()
    later = ask(master, "select unix_timestamp() + 1")[0][0]
    wait_until(lambda: ask(master, "select unix_timestamp()")[0][0] >= later, "the next second")
    stop_applying(replica)
    pair.alike(4)
    place = place_behind(pair.transactions(master, here))
    report = find_landmark(source_settings(replica), place, _MARGIN_S)
    assert (report.sought.sighting, report.sought.lacking) == (Sighting.MISSING, place.count + 1)
    assert report.replication.state is Replicating.HALTED
    promote(replica)
    assert (
        find_landmark(source_settings(replica), place, _MARGIN_S).replication.state
        is Replicating.ENDED
    )


def test_a_binlog_that_begins_too_late_proves_nothing(pair: Pair) -> None:
    here = end_of(pair.master)
    pair.alike(1)
    (first, end), second = pair.transactions(pair.master, here)
    place = place_behind([(first._replace(second=first.second - 1), end), second])
    pair.replica.execute("flush binary logs")
    purge(pair.replica)
    with pytest.raises(StandbyPurged, match="its binlog must begin at"):
        find_landmark(source_settings(pair.replica), place, _MARGIN_S)

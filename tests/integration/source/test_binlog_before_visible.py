"""Real pairs with semi-synchronous replication that waits AFTER_SYNC: the binlog is seconds ahead
of what SELECTs see.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from typing import Final

import pytest

from deploy.embedded import MariaDB, MySQL, SqlServer
from relay.errors import LookupUnreachable, SourceLostTransactions, SourceUnreachable
from relay.lookups import SourceLookups
from relay.model.change import TransactionBegin
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import SourcePosition
from relay.model.table import TableId
from relay.pipeline.ingest.names.schema_bootstrap import NamesOpening
from relay.pipeline.publishing.visible_lookups import wait_for_lookups
from relay.schema import CatalogReader, FollowedTables
from relay.settings import LookupSettings, SourceSettings
from relay.source import Visibility, open_source
from tests.servers.availability import require
from tests.servers.running import running
from tests.support.rows.held_commit import after_sync, await_replica, held
from tests.support.sources.source_pair import applied_all, follow_from
from tests.support.sources.source_reading import ask, at, end_of, items_up_to, source_settings

Pair = tuple[SqlServer, SqlServer]
LOOKUP: Final = LookupSettings(name="n", query="SELECT n FROM d.t WHERE id = %s", cache_seconds=60)


@pytest.fixture(scope="module", params=[MySQL, MariaDB], ids=lambda kind: kind.name)
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    kind: type[SqlServer] = request.param
    require(kind)
    with ExitStack() as stack:
        settings = {"binlog_row_metadata": "MINIMAL"}
        master = stack.enter_context(running(kind(settings)))
        replica = stack.enter_context(running(kind({**settings, "log_slave_updates": "ON"})))
        after_sync(master, replica)
        master.execute(
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY, n INT)",
            "CREATE TABLE d.u (a INT PRIMARY KEY, b INT)",
        )
        yield master, replica


def published(
    master: SqlServer, settings: SourceSettings, place: SourcePosition
) -> tuple[TransactionBegin, SourcePosition]:
    """Read from a place to the end as the relay does: how the last transaction began, and the
    position behind it.
    """
    stream = open_source(settings, place, at(place.binlog), excluded=())
    items = items_up_to(stream, end_of(master))
    begin = next(each for each in reversed(items) if isinstance(each, TransactionBegin))
    return begin, replace(
        place,
        binlog=end_of(master),
        gtid_set=str(GtidSet.parse(place.gtid_set).with_gtid(begin.gtid)),
    )


def position(master: SqlServer, settings: SourceSettings) -> SourcePosition:
    with closing(open_source(settings, None, at(end_of(master)), excluded=())) as stream:
        return stream.start


def test_what_is_in_the_binlog_is_waited_for_until_selects_see_it(pair: Pair) -> None:
    master, replica = pair
    settings = source_settings(master)
    place = position(master, settings)
    with (
        closing(Visibility(settings)) as visibility,
        closing(SourceLookups([LOOKUP], settings)) as lookups,
    ):
        with held(master, replica, "INSERT INTO d.t VALUES (1, 7)"):
            begin, _ = published(master, settings, place)
            assert ask(master, "SELECT * FROM d.t WHERE id = 1") == [], (
                "the server shows it already"
            )
            lookups.before_asking = lambda: wait_for_lookups(visibility, begin)
            assert not visibility.wait_for(begin.position, begin.gtid, 0.3)
            with pytest.raises(LookupUnreachable, match="semi-synchronous"):
                lookups.by_name["n"](1)
        assert lookups.by_name["n"](1) == {"n": 7}, (
            "nothing was kept of the time when it was not visible"
        )
        assert visibility.wait_for(begin.position, begin.gtid, 0)


def test_a_published_transaction_that_waits_is_not_lost(pair: Pair) -> None:
    master, replica = pair
    settings = source_settings(master)
    place = position(master, settings)
    with held(master, replica, "INSERT INTO d.t VALUES (2, 7)"):
        _, after = published(master, settings, place)
        open_source(settings, after, at(after.binlog), excluded=()).close()
        unknown = replace(after, gtid_set=_next(after.gtid_set))
        with pytest.raises(SourceLostTransactions):
            open_source(settings, unknown, at(after.binlog), excluded=()).close()


def test_a_catalogue_is_read_once_it_shows_the_statements_before_it(pair: Pair) -> None:
    master, replica = pair
    settings = source_settings(master)
    place = position(master, settings)
    if master.family == "mariadb":
        with (
            held(master, replica, "ALTER TABLE d.u RENAME COLUMN b TO c"),
            suppress(SourceUnreachable),
        ):
            # MariaDB's catalogue shows the statement, or waits for its lock.
            assert described(
                source_settings(master, read_timeout_seconds=2), place, mariadb=True
            ) == ["a", "c"]
        assert described(settings, place, mariadb=True) == ["a", "c"]
        return
    with held(master, replica, "ALTER TABLE d.u RENAME COLUMN b TO c"):
        with pytest.raises(SourceUnreachable, match="catalogue does not show"):
            described(settings, place, mariadb=False)
        behind = position(master, settings)
        with pytest.raises(SourceUnreachable, match="catalogue does not show"):
            described(settings, behind, mariadb=False)
    assert described(settings, place, mariadb=False) == ["a", "c"]


@pytest.mark.long
def test_without_gtids_a_catalogue_is_read_once_changed_tables_are_unlocked() -> None:
    require(MySQL)
    settings = {
        "binlog_row_metadata": "MINIMAL",
        "gtid_mode": "OFF",
        "enforce_gtid_consistency": "OFF",
    }
    with running(MySQL(settings)) as master, running(MySQL(settings)) as replica:
        begin = end_of(master)
        master.execute("CREATE DATABASE d", "CREATE TABLE d.u (a INT PRIMARY KEY, b INT)")
        follow_from(replica, master, begin)
        applied_all(replica, master)
        await_replica(master, replica)
        source = source_settings(master)
        place = position(master, source)
        with (
            held(master, replica, "ALTER TABLE d.u RENAME COLUMN b TO c"),
            pytest.raises(SourceUnreachable, match="catalogue does not show"),
        ):
            described(source, place, mariadb=False)
        assert described(source, place, mariadb=False) == ["a", "c"]


def described(settings: SourceSettings, place: SourcePosition, *, mariadb: bool) -> list[str]:
    """The columns of a table that was changed, as the catalogue is taken to say."""
    schemas = FollowedTables(mariadb=mariadb)
    with closing(CatalogReader(settings)) as catalog:
        opening = NamesOpening(settings, catalog, schemas, place)
        snapshot, _ = opening._described(())  # noqa: SLF001 - what both ways of opening ask
    return [column.name for column in snapshot.tables[TableId("d", "u")].columns]


def _next(gtid_set: str) -> str:
    """The set with the transaction behind its last one."""
    number = re.search(r"\d+$", gtid_set)
    assert number is not None
    return f"{gtid_set[: number.start()]}{int(number[0]) + 1}"

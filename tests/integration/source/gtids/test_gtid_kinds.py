"""GTIDs of every kind: tags of MySQL 8.3 and later, several domains and servers of MariaDB.

From any place and after any transaction.
"""

from collections.abc import Iterator

import pytest

from deploy.embedded import MySQL, SqlServer
from relay.model.change import TransactionEnd
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import SourcePosition
from relay.settings import StartSettings
from relay.source import open_source
from tests.servers.fixtures import FreshName
from tests.support.sources.source_reading import (
    ask,
    at,
    end_of,
    executed,
    items_up_to,
    read,
    source_settings,
    whole_transactions,
)


@pytest.fixture
def table(request: pytest.FixtureRequest, fresh_name: FreshName) -> Iterator[tuple[SqlServer, str]]:
    server: SqlServer = request.getfixturevalue(request.param)
    name = fresh_name("gtids")
    server.execute(f"CREATE DATABASE {name}", f"CREATE TABLE {name}.t (id INT PRIMARY KEY)")
    yield server, f"{name}.t"
    server.execute(f"DROP DATABASE {name}")


def _insert(server: SqlServer, table: str, row: int) -> None:
    """One transaction of the next kind: MySQL's without and with two tags, MariaDB's of three
    domains and two servers.
    """
    if isinstance(server, MySQL):
        tag = ("AUTOMATIC", "AUTOMATIC:blue", "AUTOMATIC:_a1")[row % 3]
        server.execute(f"SET gtid_next='{tag}'", f"INSERT INTO {table} VALUES ({row})")
    else:
        other = server.port if row % 4 else server.port + 1
        server.execute(
            f"SET gtid_domain_id={(0, 7, 4294967295)[row % 3]}, server_id={other}",
            f"INSERT INTO {table} VALUES ({row})",
        )


@pytest.mark.parametrize("table", ["mariadb", "mariadb_10_11", "mysql_9"], indirect=True)
def test_reading_goes_on_after_transactions_of_every_kind(table: tuple[SqlServer, str]) -> None:
    server, name = table
    settings = source_settings(server)
    stream = open_source(settings, None, StartSettings())
    places = []
    for row in range(7):
        if row == 3:
            server.execute("FLUSH BINARY LOGS")
        places.append((end_of(server), executed(server)))
        _insert(server, name, row)
    target = end_of(server)
    transactions = whole_transactions(items_up_to(stream, target))
    assert len(transactions) == 7
    published = GtidSet.parse(stream.start.gtid_set)
    for number, transaction in enumerate(transactions):
        end = transaction[-1]
        assert isinstance(end, TransactionEnd)
        published = published.with_gtid(end.gtid)
        assert GtidSet.parse(str(published)) == published
        if number % 2:
            continue
        resume = SourcePosition(end.position, str(published), end.identity)
        assert whole_transactions(read(settings, resume, target)) == transactions[number + 1 :]
    assert _same(str(published), executed(server))
    for place, known in places[::3]:
        from_there = open_source(settings, None, at(place))
        from_there.close()
        assert _same(from_there.start.gtid_set, known)


def _same(one: str, other: str) -> bool:
    return GtidSet.parse(one) == GtidSet.parse(other)


def test_a_tagged_set_is_written_as_the_server_writes_it(mysql_9: MySQL) -> None:
    text = executed(mysql_9)
    assert str(GtidSet.parse(text)) == text
    assert ask(mysql_9, f"SELECT GTID_SUBTRACT('{text}', '{GtidSet.parse(text)}')")[0][0] == ""

"""The last published transaction is recognized in its source's binlog, whatever it is made of, and
another one in its place is not.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace

import pytest

from deploy.embedded import MariaDB, MySQL, MySQL56, SqlServer
from relay.decode import RowDecoder
from relay.errors import BinlogPurged, HistoryChanged, RelayError
from relay.model.change import RawRows, StreamItem, TransactionBegin, TransactionEnd
from relay.model.positions.position import BinlogPosition, LastTransaction, SourcePosition
from relay.model.records.last_transaction import MOST_CHANGES, last_changed, last_transaction
from relay.settings import StartSettings
from relay.source import check_start
from relay.source.positions.last_transaction_check import LastTransactionCheck
from relay.source.positions.resume import binlog_files
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.server_facts import read_server_facts
from tests.servers.fixtures import FreshName
from tests.servers.running import factory
from tests.support.sources.purging import purge
from tests.support.sources.source_reading import ask, end_of, read, source_settings


@pytest.fixture(params=["mariadb", "mysql_9", "mysql_5_6"])
def server(request: pytest.FixtureRequest) -> SqlServer:
    found: SqlServer = request.getfixturevalue(request.param)
    return found


def _published(
    server: SqlServer, start: BinlogPosition | SourcePosition
) -> Iterator[tuple[LastTransaction, TransactionEnd]]:
    """Yield what the walk would keep of each transaction that changed something."""
    decoder = RowDecoder()
    raw = read(source_settings(server), start, end_of(server))
    items: list[StreamItem] = [
        decoder.open(item) if isinstance(item, RawRows) else item for item in raw
    ]
    for at, item in enumerate(items):
        begin = next(
            (each for each in range(at, -1, -1) if isinstance(items[each], TransactionBegin)), 0
        )
        if isinstance(item, TransactionEnd) and (changed := last_changed(items, begin, at + 1)):
            yield last_transaction(*changed), item


def _work(server: SqlServer, name: str) -> None:
    with server.connect(autocommit=False) as connection, connection.cursor() as cursor:
        for sql in (
            f"CREATE DATABASE {name}",
            f"USE {name}",
            "CREATE TABLE t (id INT PRIMARY KEY, v LONGTEXT, w INT)",
            "INSERT INTO t VALUES (1, REPEAT('a', 100000), 1), (2, 'b', NULL)",
            "COMMIT",
            *(
                f"INSERT INTO t VALUES ({number}, 'x', {number})"
                for number in range(10, 10 + 2 * MOST_CHANGES)
            ),
            "COMMIT",
            "SET binlog_row_image = MINIMAL",
            "UPDATE t SET w = w + 1 WHERE id < 3",
            "COMMIT",
            "SET binlog_row_image = FULL",
            *(
                []
                if server.family == "mariadb" or server.name == "mysql-5.6"
                else ["SET binlog_transaction_compression = ON"]
            ),
            "DELETE FROM t WHERE id > 20",
            "COMMIT",
            "CREATE TEMPORARY TABLE scratch (a INT) ENGINE=MyISAM",
            "INSERT INTO t VALUES (3, 'kept', 1)",
            "SAVEPOINT s",
            "INSERT INTO t VALUES (4, 'gone', 1)",
            "INSERT INTO scratch VALUES (1)",
            "ROLLBACK TO SAVEPOINT s",
            "INSERT INTO t VALUES (5, 'kept', 1)",
            "COMMIT",
            "XA START 'last'",
            "INSERT INTO t VALUES (6, 'xa', 1)",
            "XA END 'last'",
            "XA PREPARE 'last'",
            "XA COMMIT 'last'",
            "ALTER TABLE t ADD COLUMN z INT",
        ):
            cursor.execute(sql)


def test_each_transaction_is_recognized_and_no_other(
    server: SqlServer, fresh_name: FreshName
) -> None:
    start = end_of(server)
    _work(server, fresh_name("last"))
    published = list(_published(server, start))
    assert len(published) >= 9
    digests = [each.digest for each, _ in published]
    assert (
        len(set(digests)) >= len(digests) - 1
    )  # of a statement the first word and the second count: two are CREATE
    settings = source_settings(server)
    with closing(SourceConnection(settings)) as connection:
        check = LastTransactionCheck(
            settings, read_server_facts(connection), binlog_files(connection)
        )
    for each, _ in published:
        check.in_place(each)
        other = next(digest for digest in digests if digest != each.digest)
        with pytest.raises(HistoryChanged, match="is not the one that was published last"):
            check.in_place(replace(each, digest=other))
    with pytest.raises(HistoryChanged):
        check.in_place(replace(each, begin=each.begin._replace(offset=each.begin.offset + 1)))


@dataclass
class Own:
    """A server of the test's own with a position at its end, as the relay would have kept it."""

    server: SqlServer
    saved: SourcePosition

    def insert(self, *numbers: int) -> None:
        self.server.execute(*(f"INSERT INTO d.t VALUES ({number})" for number in numbers))

    def flush(self) -> None:
        self.server.execute("FLUSH BINARY LOGS")

    def opened(self) -> RelayError | None:
        try:
            check_start(source_settings(self.server), self.saved, StartSettings())
        except RelayError as exc:
            return exc
        return None


@pytest.fixture(params=[MariaDB, MySQL, MySQL56], ids=lambda kind: kind.name)
def own(request: pytest.FixtureRequest) -> Iterator[Own]:
    with factory(request.param) as start:
        server: SqlServer = start(MySQL56.gtid_options) if request.param is MySQL56 else start()
        server.execute("CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
        before = end_of(server)
        server.execute("INSERT INTO d.t VALUES (1)", "INSERT INTO d.t VALUES (2)")
        *_, (last, end) = _published(server, before)
        at = StartSettings(
            at="position", journal_name=end.position.file, position=end.position.offset
        )
        yield Own(server, replace(check_start(source_settings(server), None, at), last=last))


def test_a_source_that_went_on_is_the_same(own: Own) -> None:
    assert own.opened() is None
    own.flush()
    own.insert(3)
    purge(own.server)
    assert own.opened() is None


def test_a_purged_last_transaction_leaves_a_proof_only_to_the_next_file(own: Own) -> None:
    own.flush()
    own.flush()
    purge(own.server)
    error = own.opened()
    assert isinstance(error, BinlogPurged)
    assert f"--file {own.saved.binlog.file[:-1]}" in error.way_out


def test_another_transaction_of_its_gtid_is_another_history(own: Own) -> None:
    """The position names a file before the oldest one, as on a server that was restored and whose
    files were purged since.
    """
    server = own.server
    gone = f"{own.saved.binlog.file[:-1]}0"
    own.saved = replace(own.saved, binlog=BinlogPosition(gone, 4))
    assert own.opened() is None
    own.saved = replace(own.saved, last=replace(_known(own.saved), digest="0" * 32))
    assert isinstance(own.opened(), HistoryChanged)
    later = replace(own.saved.identity, file_created_s=own.saved.identity.file_created_s + 100)
    own.saved = replace(own.saved, identity=later)
    error = own.opened()
    assert isinstance(error, HistoryChanged)
    assert str(ask(server, "SHOW BINARY LOGS")[0][0]) in error.reason


def _known(saved: SourcePosition) -> LastTransaction:
    assert saved.last is not None
    return saved.last

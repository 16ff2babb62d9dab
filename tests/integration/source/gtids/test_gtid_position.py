"""A GTID set resolves to the coordinates after exactly its transactions, or it is refused."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from deploy.embedded import DebianMariaDB, MariaDB, MySQL, SqlServer
from relay.errors import BinlogPurged, ConfigurationError
from relay.model.positions.position import BinlogPosition
from relay.settings import StartSettings
from relay.source import check_start, transaction_position_of
from tests.servers.availability import require
from tests.servers.running import running
from tests.support.sources.purging import purge
from tests.support.sources.source_reading import end_of, executed, source_settings

_NO_TABLE = "CREATE TABLE d.t (id INT PRIMARY KEY)"


@dataclass
class Server:
    """A server with three binlog files, and its executed GTIDs at the ends of some transactions."""

    sql: SqlServer
    moments: dict[str, BinlogPosition]

    def insert(self, number: int) -> None:
        """Insert a row; record the executed GTIDs and the binlog coordinates."""
        self.sql.execute(f"INSERT INTO d.t VALUES ({number})")
        self.moments[executed(self.sql)] = end_of(self.sql)


@pytest.fixture(
    scope="module",
    params=[MySQL, MariaDB, pytest.param(DebianMariaDB, marks=pytest.mark.long)],
    ids=lambda kind: kind.name,
)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    kind: type[SqlServer] = request.param
    require(kind)
    with ExitStack() as stack:
        found = Server(stack.enter_context(running(kind())), {})
        found.sql.execute("CREATE DATABASE d", _NO_TABLE)
        for number in range(9):
            found.insert(number)
            if number % 3 == 2:
                found.sql.execute("FLUSH BINARY LOGS")
        found.insert(9)
        yield found


def test_each_moment_has_its_place(server: Server) -> None:
    """The found coordinates may be earlier than the recorded ones, if no transaction is between."""
    ends = list(server.moments.values())
    assert len({place.file for place in ends}) == 4
    for (gtid_set, place), after in zip(server.moments.items(), ends[1:], strict=False):
        found = transaction_position_of(source_settings(server.sql), gtid_set).position
        assert found.gtid_set == gtid_set
        assert place.rank <= found.binlog.rank < after.rank


def test_an_instance_begins_there(server: Server) -> None:
    for gtid_set in (min(server.moments), max(server.moments)):
        settings = source_settings(server.sql)
        named = check_start(settings, None, StartSettings(at="gtid_set", gtid_set=gtid_set))
        assert named.gtid_set == gtid_set
        assert named.identity.file_created_s > 0
        by_place = StartSettings(
            at="position", journal_name=named.binlog.file, position=named.binlog.offset
        )
        assert check_start(settings, None, by_place) == named


def test_a_set_that_the_source_does_not_have_is_refused(server: Server) -> None:
    head, separator, last = executed(server.sql).rpartition("-")
    ahead = f"{head}{separator}{int(last) + 5}"
    with pytest.raises(ConfigurationError, match="does not have the GTID set"):
        transaction_position_of(source_settings(server.sql), ahead)


def test_sets_of_the_other_family_and_texts_are_refused(server: Server) -> None:
    foreign = {
        "mysql": "0-1-5",
        "mariadb": "11111111-1111-1111-1111-111111111111:1-3",
    }[server.sql.family]
    settings = source_settings(server.sql)
    with pytest.raises(ConfigurationError, match="does not use"):
        transaction_position_of(settings, foreign)
    with pytest.raises(ConfigurationError, match="is not a GTID"):
        transaction_position_of(settings, "now")
    with pytest.raises(ConfigurationError, match="empty"):
        transaction_position_of(settings, "")
    blind = settings.model_copy(update={"gtid": False})
    with pytest.raises(ConfigurationError, match=r"source\.gtid is false"):
        transaction_position_of(blind, executed(server.sql))


def test_a_set_with_a_gap_has_no_place() -> None:
    """Only MySQL's sets can leave out an earlier transaction of the same server."""
    require(MySQL)
    with running(MySQL()) as server:
        server.execute("CREATE DATABASE d", _NO_TABLE)
        for number in range(4):
            server.execute(f"INSERT INTO d.t VALUES ({number})")
        uuid, _, numbers = executed(server).rpartition(":")
        last = int(numbers.rpartition("-")[2])
        with pytest.raises(ConfigurationError, match=rf"{uuid}:{last} is after"):
            transaction_position_of(source_settings(server), f"{uuid}:1-{last - 2}:{last}")


@pytest.mark.parametrize("kind", [MySQL, MariaDB], ids=lambda kind: kind.name)
def test_a_purged_set_is_refused_and_the_oldest_kept_one_is_not(kind: type[SqlServer]) -> None:
    require(kind)
    with running(kind()) as server:
        server.execute("CREATE DATABASE d", _NO_TABLE)
        before = executed(server)
        server.execute("INSERT INTO d.t VALUES (1)")
        kept = executed(server)
        server.execute("FLUSH BINARY LOGS", "INSERT INTO d.t VALUES (2)")
        purge(server)
        settings = source_settings(server)
        with pytest.raises(BinlogPurged, match="older than the binlog"):
            transaction_position_of(settings, before)
        assert transaction_position_of(settings, kept).position.binlog.file == end_of(server).file

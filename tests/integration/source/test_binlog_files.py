"""Binlogs of many files, over file numbers of six and seven digits, searched by time, damaged and
gone, on every server.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

import pytest

from deploy.embedded import DebianMariaDB, MariaDB, MySQL, MySQL56, SqlServer
from relay.errors import BinlogPurged, ConfigurationError, CorruptEvent, HistoryChanged
from relay.model.change import RawItem, TransactionBegin, TransactionEnd
from relay.model.positions.position import BinlogPosition, SourcePosition
from relay.pipeline.ingest.compiled_events import event_scanner
from relay.settings import StartSettings
from relay.source import check_start, open_source, position_of_time, transaction_position
from tests.servers.running import factory
from tests.support.sources.binlog_disk import binlog_path, flip_bit, redate, renumber
from tests.support.sources.source_reading import ask, at, end_of, read, source_settings

# 200 files where making them is quick.
_KINDS: Final[dict[type[SqlServer], int]] = {
    MariaDB: 200,
    DebianMariaDB: 12,
    MySQL: 25,
    MySQL56: 12,
}
_STEP_S: Final = 60
_SECOND_S: Final = 30


@dataclass(frozen=True)
class Worn:
    """A server with `files` of two transactions each, begun a minute apart from `began_s` on.

    The last but one is number 999999.
    """

    server: SqlServer
    files: list[str]
    began_s: int

    def borders(self, file: str) -> list[int]:
        """Begin of the first, end of the first, and end of the second transaction, as the server
        shows them.
        """
        shown = ask(self.server, f"SHOW BINLOG EVENTS IN '{file}'")
        ends = [int(row[4]) for row in shown if row[2] == "Xid"]
        return [
            int(next(row[1] for row in shown if row[2] in ("Gtid", "Query", "Anonymous_Gtid"))),
            *ends,
        ]

    def moment(self, file: str, after_s: float) -> datetime:
        return datetime.fromtimestamp(
            self.began_s + self.files.index(file) * _STEP_S + after_s, UTC
        )

    def connections(self) -> int:
        return int(ask(self.server, "SHOW GLOBAL STATUS LIKE 'Connections'")[0][1])


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(kind, marks=[pytest.mark.long] if kind is DebianMariaDB else [])
        for kind in _KINDS
    ],
    ids=lambda kind: kind.name,
)
def worn(request: pytest.FixtureRequest) -> Iterator[Worn]:
    with factory(request.param) as start:
        server: SqlServer = start()
        server.execute(
            "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "FLUSH BINARY LOGS"
        )
        oldest = end_of(server).file
        with server.connect() as connection, connection.cursor() as cursor:
            for number in range(_KINDS[request.param]):
                cursor.execute(f"INSERT INTO d.t VALUES ({2 * number})")
                cursor.execute(f"INSERT INTO d.t VALUES ({2 * number + 1})")
                cursor.execute("FLUSH BINARY LOGS")
        server.execute(f"PURGE BINARY LOGS TO '{oldest}'")
        yield _worn(server)


def _worn(server: SqlServer) -> Worn:
    """Change the files of the stopped server, and start it again: it begins a file of the next
    number.
    """
    *files, newest = [str(row[0]) for row in ask(server, "SHOW BINARY LOGS")]
    server.stop()
    began_s = int(time.time()) - (len(files) + 5) * _STEP_S
    for number, file in enumerate(files):
        redate(
            binlog_path(server, file),
            iter(
                (
                    began_s + number * _STEP_S,
                    *(began_s + number * _STEP_S + more for more in (1, _SECOND_S)),
                )
            ),
        )
    renumber(server, newest, "binlog.999999")
    server.start()
    return Worn(server, files, began_s)


def test_a_search_finds_the_border_and_opens_few_files(worn: Worn) -> None:
    settings = source_settings(worn.server)
    for file in (worn.files[0], worn.files[len(worn.files) // 2], worn.files[-1]):
        _, between, end = worn.borders(file)
        before = worn.connections()
        found = position_of_time(settings, worn.moment(file, _SECOND_S - 5))
        assert worn.connections() - before <= 12, (
            "a login to ask, a look at 8 files, the search in one, its GTIDs, and the count itself"
        )
        assert found.binlog == BinlogPosition(file, between)
        assert position_of_time(
            settings, worn.moment(file, _SECOND_S + 5)
        ).binlog == BinlogPosition(file, end)
        assert transaction_position(settings, found.binlog).position == found


def test_a_time_in_one_file_is_looked_for_there_alone(worn: Worn) -> None:
    settings, file = source_settings(worn.server), worn.files[3]
    first, between, end = worn.borders(file)
    assert position_of_time(settings, worn.moment(file, 10), file).binlog == BinlogPosition(
        file, between
    )
    assert position_of_time(settings, worn.moment(file, -_STEP_S), file).binlog == BinlogPosition(
        file, 4
    )
    assert position_of_time(
        settings, worn.moment(file, 10 * _STEP_S), file
    ).binlog == BinlogPosition(file, end)
    with pytest.raises(ConfigurationError, match=r"binlog\.000000"):
        position_of_time(settings, worn.moment(file, 0), "binlog.000000")
    assert first < between < end


def test_every_row_of_the_start_table(worn: Worn) -> None:
    settings, file = source_settings(worn.server), worn.files[2]
    _, between, _ = worn.borders(file)
    time_between = worn.moment(file, _SECOND_S - 5)

    def begins(**start: object) -> BinlogPosition:
        return check_start(settings, None, StartSettings.model_validate(start)).binlog

    saved = check_start(settings, None, at(BinlogPosition(worn.files[4], 4)))
    assert check_start(settings, saved, StartSettings(journal_name=file)) == saved, (
        "a saved position goes before all settings"
    )
    assert begins(
        journal_name=file, position=between, timestamp=worn.moment(file, 0)
    ) == BinlogPosition(file, between)
    assert begins(journal_name=file, timestamp=time_between) == BinlogPosition(file, between)
    assert begins(journal_name=file) == BinlogPosition(file, 4)
    assert begins(timestamp=time_between) == BinlogPosition(file, between)
    assert begins() == end_of(worn.server)
    assert begins(at="oldest") == BinlogPosition(worn.files[0], 4)
    with pytest.raises(BinlogPurged) as refused:
        begins(timestamp=worn.moment(worn.files[0], -1))
    assert "oldest" in refused.value.way_out
    other = SourcePosition(
        saved.binlog,
        "",
        saved.identity.__class__("0" * 8 if saved.identity.server_uuid else "", 1, 0),
    )
    with pytest.raises(HistoryChanged, match="belongs to the server"):
        check_start(settings, other, StartSettings())


@pytest.mark.parametrize("gtid", [False, True], ids=["file", "gtid"])
def test_file_numbers_grow_beyond_six_digits(worn: Worn, gtid: bool) -> None:
    server, settings = worn.server, source_settings(worn.server, gtid=gtid)
    last, newest = [str(row[0]) for row in ask(server, "SHOW BINARY LOGS")][-2:]
    assert (last, newest) == ("binlog.999999", "binlog.1000000")
    saved = check_start(settings, None, at(BinlogPosition(last, 4)))
    server.execute("INSERT INTO d.t VALUES (-1)", "DELETE FROM d.t WHERE id = -1")
    target = end_of(server)
    stream = open_source(settings, saved, StartSettings())
    ends = []
    for item in stream.items():
        if isinstance(item, TransactionEnd):
            ends.append(item)
            if item.position == target:
                stream.close()
    assert len(ends) >= 2
    assert {end.position.file for end in ends} == {newest}
    behind = SourcePosition(ends[-2].position, saved.gtid_set, ends[-2].identity)
    assert (
        check_start(source_settings(server, gtid=False), behind, StartSettings()).binlog
        == ends[-2].position
    )
    distance = transaction_position(settings, target).bytes_from(saved.binlog)
    assert distance is not None
    assert distance > 0
    with pytest.raises(
        HistoryChanged, match=r"newest binlog file of the source is binlog\.1000000"
    ):
        check_start(
            settings,
            SourcePosition(BinlogPosition("binlog.1000001", 4), "", saved.identity),
            StartSettings(),
        )


@pytest.mark.parametrize("scanned", [False, True], ids=["one by one", "scanned"])
def test_a_flipped_bit_stops_at_its_file_and_offset(worn: Worn, scanned: bool) -> None:
    server, file = worn.server, worn.files[5]
    begin, between, _ = worn.borders(file)
    shown = ask(server, f"SHOW BINLOG EVENTS IN '{file}' FROM {between}")
    rows, behind = next(
        (int(row[1]), int(then[1]))
        for row, then in pairwise(shown)
        if str(row[2]).startswith("Write_rows")
    )
    settings, scanner = source_settings(server, gtid=False), event_scanner() if scanned else None
    path = binlog_path(server, file)
    with _damaged(server, file):
        flip_bit(path, behind - 6)
        stream = open_source(settings, None, at(BinlogPosition(file, begin)), scanner=scanner)
        seen: list[RawItem] = []
        with pytest.raises(
            CorruptEvent, match=rf"The event at {file}:{rows} does not match its checksum"
        ):
            seen.extend(stream.items())
        assert [item.position.offset for item in seen if isinstance(item, TransactionBegin)] == [
            begin,
            between,
        ]


def test_a_file_that_went_away_under_the_reader_is_a_purged_binlog(worn: Worn) -> None:
    server, here, gone = worn.server, worn.files[6], worn.files[7]
    with _damaged(server, gone):
        binlog_path(server, gone).unlink()
        seen: list[RawItem] = []
        with pytest.raises(BinlogPurged):
            seen.extend(
                open_source(
                    source_settings(server, gtid=False), None, at(BinlogPosition(here, 4))
                ).items()
            )
        assert [item.position for item in seen if isinstance(item, TransactionEnd)][
            -1
        ] == BinlogPosition(here, worn.borders(here)[-1])
    assert (
        len(
            read(
                source_settings(server, gtid=False),
                BinlogPosition(here, 4),
                BinlogPosition(gone, worn.borders(gone)[-1]),
            )
        )
        > 6
    )


@contextmanager
def _damaged(server: SqlServer, file: str) -> Iterator[None]:
    """What happens to the file inside is undone afterwards."""
    path = binlog_path(server, file)
    content = path.read_bytes()
    try:
        yield
    finally:
        path.write_bytes(content)

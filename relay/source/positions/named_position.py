"""Checks a binlog position that an operator names: it must exist, and a transaction must begin
there.
"""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from relay.errors import ConfigurationError
from relay.model.positions.position import BinlogPosition, SourcePosition
from relay.settings import SourceSettings, StartSettings
from relay.source.positions.binlog_probe import FIRST_OFFSET, file_created_s, is_border
from relay.source.positions.by_gtid.gtid_position import position_of_gtid_set
from relay.source.positions.initial_position import fresh_start
from relay.source.positions.resume import binlog_files
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.server_facts import ServerFacts, read_server_facts

# As both families name them in SHOW BINLOG EVENTS.
_BEGIN: Final = frozenset({"Gtid", "Anonymous_Gtid", "Gtid_tagged", "Gtid_tagged_log_event"})
_BETWEEN: Final = frozenset(
    {
        "Format_desc",
        "Previous_gtids",
        "Gtid_list",
        "Binlog_checkpoint",
        "Rotate",
        "Stop",
        "Start_encryption",
        "Heartbeat",
    }
)


@dataclass(frozen=True, slots=True)
class TransactionPosition:
    """The position at which a transaction begins, with the GTID set and file time that a saved
    position needs.

    `files` maps the server's binlog files to their sizes in bytes, oldest first.
    """

    position: SourcePosition
    files: Mapping[str, int]

    def bytes_from(self, other: BinlogPosition) -> int | None:
        """Return how many bytes of binlog are between `other` and this position; a negative number
        if `other` is the later one.

        None if one of the two files no longer exists.
        """
        here, there = self._bytes_before(self.position.binlog), self._bytes_before(other)
        return None if here is None or there is None else here - there

    def files_from(self, other: BinlogPosition) -> int | None:
        """Return over how many binlog files the range between `other` and this position extends.

        None if one of the two files no longer exists.
        """
        names = list(self.files)
        if self.position.binlog.file not in self.files or other.file not in self.files:
            return None
        return abs(names.index(self.position.binlog.file) - names.index(other.file)) + 1

    def _bytes_before(self, position: BinlogPosition) -> int | None:
        names = list(self.files)
        if position.file not in self.files:
            return None
        return (
            sum(self.files[name] for name in names[: names.index(position.file)]) + position.offset
        )


def transaction_position(settings: SourceSettings, at: BinlogPosition) -> TransactionPosition:
    """Return the complete position of a transaction that begins at `at`.

    Raises ConfigurationError if no transaction begins there, and the errors of a connection.
    """
    start = StartSettings(at="position", journal_name=at.file, position=at.offset)
    with closing(SourceConnection(settings)) as connection:
        server = read_server_facts(connection)
        position = TransactionPosition(
            fresh_start(connection, settings, server, start), binlog_files(connection)
        )
        if FIRST_OFFSET < at.offset < position.files[at.file]:
            _check_transaction_begins(connection, settings, server, at)
    return position


def transaction_position_of(settings: SourceSettings, gtid_set: str) -> TransactionPosition:
    """Return the position that has exactly the transactions of a GTID set before it.

    Raises ConfigurationError if the server has no such position, BinlogPurged, and the errors of a
    connection.
    """
    position = position_of_gtid_set(settings, gtid_set)
    with closing(SourceConnection(settings)) as connection:
        return TransactionPosition(position, binlog_files(connection))


def binlog_file_created_s(settings: SourceSettings, file: str) -> int:
    """Return the creation time of a binlog file (Unix seconds).

    Raises BinlogPurged if it is purged, and the errors of a connection.
    """
    with closing(SourceConnection(settings)) as connection:
        server = read_server_facts(connection)
    return file_created_s(settings, server, file)


def _check_transaction_begins(
    connection: SourceConnection, settings: SourceSettings, server: ServerFacts, at: BinlogPosition
) -> None:
    event = connection.rows("SHOW BINLOG EVENTS IN %s FROM %s LIMIT 2", at.file, at.offset)[0]
    kind = str(event[2])
    # Only before MySQL 5.7 a transaction may begin without a GTID event, and nothing in the
    # event shows that.
    bare = not server.mariadb and server.version < (5, 7, 0)
    if kind not in _BEGIN | _BETWEEN and not (
        bare and kind == "Query" and is_border(settings, server, at)
    ):
        raise ConfigurationError(
            f"The event at {at} is {kind!r}, which begins no transaction.",
            remedy="Name the offset of a transaction's first event.",
        )

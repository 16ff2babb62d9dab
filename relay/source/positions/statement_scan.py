"""Reads the statements between two positions over a separate connection, and finds the beginning
and the end of the binlog.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import NamedTuple

from relay.errors import SourceUnreachable
from relay.model import event_types as types
from relay.model.change import Statement
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import BinlogPosition, SourceIdentity, SourcePosition
from relay.settings import SourceSettings
from relay.source.events.binlog_event import BinlogEvent
from relay.source.events.gtid_events import mariadb_gtid, mysql_gtid, tagged_gtid
from relay.source.events.query_event import Meaning, read_query
from relay.source.positions.binlog_probe import FIRST_OFFSET, file_created_s
from relay.source.positions.resume import binlog_end, binlog_files
from relay.source.protocol.binlog_reader import BinlogReader
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.dump_handshake import reading_from
from relay.source.protocol.server_facts import ServerFacts, read_server_facts

_STATEMENTS = (Meaning.STATEMENT, Meaning.ATOMIC_CREATE)


def ask_server_facts(settings: SourceSettings) -> ServerFacts:
    """Connect to the source, and return its identity and settings. Raises the errors of a
    connection.
    """
    with closing(SourceConnection(settings)) as connection:
        return read_server_facts(connection)


def end_of_binlog(settings: SourceSettings) -> BinlogPosition:
    """Return the position at which the source's binlog ends now. Raises the errors of a
    connection.
    """
    with closing(SourceConnection(settings)) as connection:
        return binlog_end(connection, read_server_facts(connection))


def beginning_of_binlog(settings: SourceSettings) -> SourcePosition:
    """Return the beginning of the oldest binlog file that the source still has.

    Raises BinlogPurged if the file is purged at that moment.
    """
    with closing(SourceConnection(settings)) as connection:
        server, files = read_server_facts(connection), binlog_files(connection)
        file = next(iter(files))
        identity = SourceIdentity(
            server.server_uuid, server.server_id, file_created_s(settings, server, file)
        )
        return SourcePosition(BinlogPosition(file, FIRST_OFFSET), "", identity)


class LoggedStatement(NamedTuple):
    """A statement, the creation time of its binlog file (Unix seconds), and the GTID of its
    transaction ("" if it has none).
    """

    statement: Statement
    created_s: int
    gtid: str


def statements_between(
    settings: SourceSettings, after: BinlogPosition, until: BinlogPosition, held: str = ""
) -> Iterator[LoggedStatement]:
    """Yield the statements between two positions, without those of transactions in the GTID set
    `held`.

    A dump would be requested with `held`, and the server would not send these transactions either.
    Statements that MariaDB only announced (two-phase ALTER) are also left out. Raises BinlogPurged,
    Unreachable or CorruptEvent.
    """
    if after.rank >= until.rank:
        return
    with closing(SourceConnection(settings)) as connection:
        server = read_server_facts(connection)
        with reading_from(connection, server, after) as reader:
            yield from without_held(_statements(reader, server, until), GtidSet.parse(held))


def without_held(
    found: Iterable[LoggedStatement | str], held: GtidSet
) -> Iterator[LoggedStatement]:
    """Yield those statements of `found` that a server would send after the GTID set `held`.

    In `found`, a text is the GTID of the transaction that begins there. MySQL sends the
    transactions that are not in the set. MariaDB sends, for each domain, all transactions that
    follow the domain's transaction in the set, even those with smaller numbers. If that transaction
    is in an earlier file, MariaDB sends all transactions of the domain.
    """
    if not held.domains:
        for each in found:
            if not isinstance(each, str) and not (each.gtid and held.contains(each.gtid)):
                yield each
        return
    newest = {str(GtidSet(domains={domain: last})) for domain, last in held.domains.items()}
    statements: list[LoggedStatement] = []
    for each in found:
        if isinstance(each, LoggedStatement):
            statements.append(each)
        elif each in newest:
            domain = _domain(each)
            statements = [earlier for earlier in statements if _domain(earlier.gtid) != domain]
    yield from (each for each in statements if each.gtid not in newest)


def _domain(gtid: str) -> str:
    return gtid.partition("-")[0]


def _statements(
    reader: BinlogReader, server: ServerFacts, until: BinlogPosition
) -> Iterator[LoggedStatement | str]:
    """Yield statements, and the GTID of each transaction that begins."""
    announced, created_s, gtid = False, 0, ""
    for event in reader.events():
        if event.type_code == types.FORMAT_DESCRIPTION:
            created_s = event.time_s
        elif event.type_code == types.MARIADB_GTID:
            begun = mariadb_gtid(event.body, event.server_id)
            announced, gtid = begun.halved_alter, begun.text
            yield gtid
        elif event.type_code in (types.GTID, types.ANONYMOUS_GTID, types.GTID_TAGGED):
            gtid = _gtid(event)
        elif event.type_code in (types.QUERY, types.MARIADB_QUERY_COMPRESSED) and not announced:
            yield from (
                LoggedStatement(statement, created_s, gtid)
                for statement in _statement(event, reader.file)
            )
        if (
            event.type_code != types.ROTATE
            and BinlogPosition(reader.file, event.end).rank >= until.rank
        ):
            return
    raise SourceUnreachable(f"The source ({server.version_text}) ended the stream before {until}.")


def _statement(event: BinlogEvent, file: str) -> Iterator[Statement]:
    query = read_query(event.body, compressed=event.type_code == types.MARIADB_QUERY_COMPRESSED)
    if query.meaning in _STATEMENTS:
        yield query.statement(event.time_s, BinlogPosition(file, event.start))


def _gtid(event: BinlogEvent) -> str:
    """The GTID that a MySQL transaction begins with, "" for an anonymous one."""
    if event.type_code == types.GTID_TAGGED:
        return tagged_gtid(event.body)[0]
    return mysql_gtid(event.body)[0] if event.type_code == types.GTID else ""

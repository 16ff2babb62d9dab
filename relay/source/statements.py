"""The statements between two places of a source's binlog, read on a connection of their own: what has changed tables since."""

from collections.abc import Iterator
from contextlib import closing

from relay.errors import SourceNotPermitted, SourceUnreachable
from relay.model.change import Statement
from relay.model.position import BinlogPosition
from relay.settings import SourceSettings
from relay.source import event_types as types
from relay.source.binlog_event import BinlogEvent
from relay.source.binlog_reader import BinlogReader
from relay.source.commands import SEND_ANNOTATE_ROWS, binlog_dump
from relay.source.connection import SourceConnection
from relay.source.gtid_events import mariadb_gtid
from relay.source.packets import PacketReader
from relay.source.probe import NOT_BLOCKING, READING_TOOL
from relay.source.query_event import Meaning, read_query
from relay.source.server_facts import ServerFacts, read_server_facts
from relay.source.session import lacks_replication_slave, say_what_we_read, send
from relay.source.start import binlog_end

_STATEMENTS = (Meaning.STATEMENT, Meaning.ATOMIC_CREATE)


def ask_server_facts(settings: SourceSettings) -> ServerFacts:
    """Ask the source who it is and how it is set up."""
    with closing(SourceConnection(settings)) as connection:
        return read_server_facts(connection)


def end_of_binlog(settings: SourceSettings) -> BinlogPosition:
    """Where the source's binlog ends now."""
    with closing(SourceConnection(settings)) as connection:
        return binlog_end(connection, read_server_facts(connection))


def statements_between(settings: SourceSettings, after: BinlogPosition, until: BinlogPosition) -> Iterator[tuple[Statement, int]]:
    """Yield what the source logged as text from one place up to another one, with what it only announced left out.

    With each comes when its binlog file was made (Unix seconds).

    Raises BinlogPurged, Unreachable or CorruptEvent.
    """
    if _number(after) >= _number(until):
        return
    connection = SourceConnection(settings)
    try:
        server = read_server_facts(connection)
        say_what_we_read(connection, settings, server)
        taken = connection.taken_over()
        # MariaDB 11.4 and later write no position into most events: only with every event sent do the sizes add up.
        flags = NOT_BLOCKING | (SEND_ANNOTATE_ROWS if server.mariadb else 0)
        send(connection, taken, binlog_dump(after.file, after.offset, READING_TOOL, flags))
        reader = BinlogReader(PacketReader(taken), connection.place)
        yield from _statements(reader, server, until)
    except SourceNotPermitted as exc:
        raise lacks_replication_slave(connection.place, server) from exc
    finally:
        connection.close()


def _statements(reader: BinlogReader, server: ServerFacts, until: BinlogPosition) -> Iterator[tuple[Statement, int]]:
    announced, created_s = False, 0
    for event in reader.events():
        if event.type_code == types.FORMAT_DESCRIPTION:
            created_s = event.time_s
        elif event.type_code == types.MARIADB_GTID:
            announced = mariadb_gtid(event.body, event.server_id).halved_alter
        elif event.type_code in (types.QUERY, types.MARIADB_QUERY_COMPRESSED) and not announced:
            yield from ((statement, created_s) for statement in _statement(event, reader.file))
        if event.type_code != types.ROTATE and _number(BinlogPosition(reader.file, event.end)) >= _number(until):
            return
    raise SourceUnreachable(f"The source ({server.version_text}) ended the stream before {until}.")


def _statement(event: BinlogEvent, file: str) -> Iterator[Statement]:
    query = read_query(event.body, compressed=event.type_code == types.MARIADB_QUERY_COMPRESSED)
    if query.meaning in _STATEMENTS:
        yield Statement(query.text(), query.database, event.time_s, BinlogPosition(file, event.start))


def _number(place: BinlogPosition) -> tuple[int, int]:
    digits = place.file.rpartition(".")[2]
    return int(digits) if digits.isdigit() else 0, place.offset

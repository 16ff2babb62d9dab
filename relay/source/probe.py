"""Short looks into the binlog on a connection of their own: which incarnation a file is, and which GTIDs lie before an offset."""

from collections.abc import Generator
from contextlib import closing
from typing import Final

from relay.errors import SourceNotPermitted, SourceUnreachable
from relay.model.gtid import GtidSet
from relay.settings import SourceSettings
from relay.source import event_types as types
from relay.source.binlog_event import BinlogEvent
from relay.source.binlog_reader import BinlogReader
from relay.source.commands import binlog_dump
from relay.source.connection import SourceConnection
from relay.source.gtid_events import mysql_gtid, previous_gtids, tagged_gtid
from relay.source.packets import PacketReader
from relay.source.server_facts import ServerFacts
from relay.source.session import lacks_replication_slave, say_what_we_read, send

FIRST_OFFSET: Final = 4
"""Where the first event of a binlog file stands, after its magic number."""
_NOT_BLOCKING: Final = 0x01
_READING_TOOL: Final = 0  # server id of mysqlbinlog; no other replica's dump is ended for it


def file_created_s(settings: SourceSettings, server: ServerFacts, file: str) -> int:
    """When the file was made (Unix seconds), from its format description. Raises BinlogPurged when it is gone."""
    with closing(_events(settings, server, file)) as events:
        for event in events:
            if event.type_code == types.FORMAT_DESCRIPTION:
                return event.time_s
    raise SourceUnreachable(f"The source ended the stream of {file} before its first event.")


def mysql_gtids_before(settings: SourceSettings, server: ServerFacts, file: str, offset: int) -> GtidSet:
    """All GTIDs that a MySQL server executed before the place: the file's own list of earlier ones, and its events up to there."""
    before: GtidSet | None = None
    with closing(_events(settings, server, file)) as events:
        for event in events:
            if event.type_code == types.PREVIOUS_GTIDS:
                before = previous_gtids(event.body)
            elif before is not None and event.start < offset:
                before = _with_event(before, event)
            if before is not None and event.end >= offset:
                return before
    raise SourceUnreachable(f"The source ended the stream of {file} before offset {offset}.")


def _with_event(before: GtidSet, event: BinlogEvent) -> GtidSet:
    if event.type_code == types.GTID:
        return before.with_gtid(mysql_gtid(event.body)[0])
    if event.type_code == types.GTID_TAGGED:
        return before.with_gtid(tagged_gtid(event.body)[0])
    return before


def _events(settings: SourceSettings, server: ServerFacts, file: str) -> Generator[BinlogEvent]:
    connection = SourceConnection(settings)
    try:
        say_what_we_read(connection, settings, server)
        taken = connection.taken_over()
        send(connection, taken, binlog_dump(file, FIRST_OFFSET, _READING_TOOL, _NOT_BLOCKING))
        yield from BinlogReader(PacketReader(taken), connection.place).events()
    except SourceNotPermitted as exc:
        raise lacks_replication_slave(connection.place, server) from exc
    finally:
        connection.close()

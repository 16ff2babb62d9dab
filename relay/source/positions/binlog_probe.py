"""Reads small parts of the binlog over a separate connection: when a file was created, and which
transactions precede an offset in it.
"""

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Final

from relay.errors import SourceUnreachable
from relay.model import event_types as types
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import BinlogPosition
from relay.settings import SourceSettings
from relay.source.events.binlog_event import BinlogEvent
from relay.source.events.gtid_events import (
    gtid_list,
    mariadb_gtid,
    mysql_gtid,
    previous_gtids,
    tagged_gtid,
)
from relay.source.events.transaction_boundaries import TransactionBorders
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.dump_handshake import reading_from
from relay.source.protocol.server_facts import ServerFacts

FIRST_OFFSET: Final = 4
"""The offset of the first event of a binlog file, after its magic number."""


def file_created_s(settings: SourceSettings, server: ServerFacts, file: str) -> int:
    """Return when the binlog file was created (Unix seconds), according to its format description.

    Raises BinlogPurged if the file no longer exists.
    """
    with closing(_events(settings, server, file)) as events:
        for event in events:
            if event.type_code == types.FORMAT_DESCRIPTION:
                return event.time_s
    raise SourceUnreachable(f"The source ended the stream of {file} before its first event.")


def mysql_gtids_before(
    settings: SourceSettings, server: ServerFacts, file: str, offset: int
) -> GtidSet:
    """Return all GTIDs that a MySQL server had executed before an offset of a binlog file.

    The file begins with a list of all earlier GTIDs; the GTIDs of its events before the offset are
    added. Raises BinlogPurged if the file no longer exists.
    """
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


def mysql_gtids_of_earlier_files(
    settings: SourceSettings, server: ServerFacts, file: str
) -> GtidSet:
    """Return all GTIDs that a MySQL server had logged before this file began.

    Raises BinlogPurged if the file no longer exists.
    """
    return mysql_gtids_before(settings, server, file, FIRST_OFFSET)


def mariadb_list(
    settings: SourceSettings, server: ServerFacts, file: str
) -> dict[tuple[int, int], int]:
    """Return a mapping from (domain, server_id) to the newest GTID number before this file, from
    MariaDB's GTID_LIST event.

    Of the entries of a domain, the last one is the domain's transaction that was logged last.
    """
    with closing(_events(settings, server, file)) as events:
        for event in events:
            if event.type_code == types.MARIADB_GTID_LIST:
                return gtid_list(event.body)
    raise SourceUnreachable(f"The source ended the stream of {file} before its list of GTIDs.")


def mariadb_ids(
    settings: SourceSettings, server: ServerFacts, file: str, size_bytes: int, domain: int
) -> Iterator[tuple[int, int]]:
    """Yield (server_id, number) of each transaction of a domain in the first `size_bytes` of the
    file, in the order of the binlog.
    """
    if size_bytes <= FIRST_OFFSET:
        return
    with closing(_events(settings, server, file)) as events:
        for event in events:
            if event.type_code == types.MARIADB_GTID:
                found, number_server, number = map(
                    int, mariadb_gtid(event.body, event.server_id).text.split("-")
                )
                if found == domain:
                    yield number_server, number
            if event.end >= size_bytes:
                return
    raise SourceUnreachable(f"The source ended the stream of {file} before offset {size_bytes}.")


def border_before(
    settings: SourceSettings, server: ServerFacts, file: str, size_bytes: int, time_ms: int
) -> int:
    """Return the offset after the last transaction of the file that was committed before `time_ms`
    (Unix milliseconds).

    Only the first `size_bytes` of the file count.
    """
    borders, border = TransactionBorders(), FIRST_OFFSET
    with closing(_events(settings, server, file)) as events:
        for event in events:
            whole = borders.feed(event)
            if whole is not None:
                if whole.latest_ms >= time_ms:
                    return border
                border = whole.end
            if event.end >= size_bytes:
                return border
    raise SourceUnreachable(f"The source ended the stream of {file} before offset {size_bytes}.")


def first_beyond(
    settings: SourceSettings, server: ServerFacts, file: str, size_bytes: int, known: GtidSet
) -> int:
    """Return the offset of the first transaction of the file that is not in the GTID set `known`.

    Only the first `size_bytes` count; if all their transactions are in the set, return
    `size_bytes`.
    """
    with closing(_events(settings, server, file)) as events:
        for event in events:
            if (gtid := _gtid(event)) and not known.contains(gtid):
                return event.start
            if event.end >= size_bytes:
                return size_bytes
    raise SourceUnreachable(f"The source ended the stream of {file} before offset {size_bytes}.")


def is_border(settings: SourceSettings, server: ServerFacts, at: BinlogPosition) -> bool:
    """Return whether an event begins at this position and no transaction is open before it. Reads
    the file up to there.
    """
    borders = TransactionBorders()
    with closing(_events(settings, server, at.file)) as events:
        for event in events:
            if event.start >= at.offset:
                return event.start == at.offset and not borders.inside
            borders.feed(event)
    raise SourceUnreachable(f"The source ended the stream of {at.file} before offset {at.offset}.")


def _with_event(before: GtidSet, event: BinlogEvent) -> GtidSet:
    gtid = "" if event.type_code == types.MARIADB_GTID else _gtid(event)
    return before.with_gtid(gtid) if gtid else before


def _gtid(event: BinlogEvent) -> str:
    """Return the GTID of an event that begins a transaction, "" of any other."""
    if event.type_code == types.GTID:
        return mysql_gtid(event.body)[0]
    if event.type_code == types.GTID_TAGGED:
        return tagged_gtid(event.body)[0]
    if event.type_code == types.MARIADB_GTID:
        return mariadb_gtid(event.body, event.server_id).text
    return ""


def _events(settings: SourceSettings, server: ServerFacts, file: str) -> Generator[BinlogEvent]:
    at = BinlogPosition(file, FIRST_OFFSET)
    with (
        closing(SourceConnection(settings)) as connection,
        reading_from(connection, server, at) as reader,
    ):
        yield from reader.events()

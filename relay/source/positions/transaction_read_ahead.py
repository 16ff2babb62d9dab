"""Reads a transaction to its end over a separate connection, before a part of it is published.

`relay.source.events.rolled_back_rows` finds its rolled-back rows, as in every other read.
"""

from collections.abc import Callable, Iterator
from contextlib import closing

from relay.model.change import RawItem, TransactionEnd
from relay.model.positions.position import BinlogPosition, SourceIdentity
from relay.settings import SourceSettings
from relay.source.events.binlog_event import Scanner
from relay.source.events.rolled_back_rows import ExcludedRange
from relay.source.events.transaction_assembler import TransactionAssembler
from relay.source.protocol.binlog_reader import BinlogReader
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.dump_handshake import reading_from
from relay.source.protocol.server_facts import read_server_facts


def find_rolled_back(
    settings: SourceSettings,
    begin: BinlogPosition,
    scanner: Scanner | None,
    cancelled: Callable[[], bool],
) -> tuple[ExcludedRange, ...] | None:
    """Read the transaction that begins at `begin` to its end; return the rows that the source
    rolled back in it.

    None if the transaction's end is not in the binlog yet, or if `cancelled` returned True.
    `scanner` finds events faster; None: events are read one by one. Raises the errors of
    SourceStream.
    """
    found: list[ExcludedRange] = []
    with closing(SourceConnection(settings)) as connection:
        server = read_server_facts(connection)
        identity = SourceIdentity(server.server_uuid, server.server_id, 0)
        assembler = TransactionAssembler(mariadb=server.mariadb, identity=identity, found=found)
        with reading_from(connection, server, begin) as reader:
            for item in _items(reader, assembler, scanner, cancelled):
                if isinstance(item, TransactionEnd):
                    return tuple(found)
    return None


def _items(
    reader: BinlogReader,
    assembler: TransactionAssembler,
    scanner: Scanner | None,
    cancelled: Callable[[], bool],
) -> Iterator[RawItem]:
    for event in reader.events():
        if cancelled():
            return
        yield from assembler.feed(event)
        while scanner is not None and (items := reader.scan(scanner, assembler)):
            yield from items

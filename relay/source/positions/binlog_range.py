"""Reads the items of a binlog range over a separate connection, without registering as
a replica.
"""

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing

from relay.errors import SourceUnreachable
from relay.model import event_types as types
from relay.model.change import RawItem
from relay.model.positions.position import BinlogPosition, SourceIdentity
from relay.settings import SourceSettings
from relay.source.events.rolled_back_rows import ExcludedRange
from relay.source.events.transaction_assembler import TransactionAssembler
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.dump_handshake import reading_from
from relay.source.protocol.server_facts import ServerFacts, read_server_facts


def binlog_items(
    settings: SourceSettings, start: BinlogPosition, end: BinlogPosition
) -> Generator[RawItem]:
    """Yield the items of the binlog between the transaction boundaries `start` and `end`; none if
    `end` is not after `start`.

    Raises the errors of `items_between` and those of a connection.
    """
    if start.rank >= end.rank:
        return
    with closing(SourceConnection(settings)) as connection:
        server = read_server_facts(connection)
    yield from items_between(settings, server, start, end, ())


def items_between(
    settings: SourceSettings,
    server: ServerFacts,
    start: BinlogPosition,
    end: BinlogPosition,
    excluded: Iterable[ExcludedRange],
) -> Iterator[RawItem]:
    """Yield the items from the transaction boundary `start` to `end`, a position that the binlog
    has reached.

    Raises RolledBackRows for rolled-back rows that are not in `excluded`, and SourceUnreachable if
    the binlog ends before `end`.
    """
    identity = SourceIdentity(server.server_uuid, server.server_id, 0)
    assembler = TransactionAssembler(mariadb=server.mariadb, identity=identity, excluded=excluded)
    with (
        closing(SourceConnection(settings)) as connection,
        reading_from(connection, server, start) as reader,
    ):
        for event in reader.events():
            yield from assembler.feed(event)
            if (
                event.type_code != types.ROTATE
                and assembler.file == end.file
                and event.end >= end.offset
            ):
                return
    raise SourceUnreachable(
        f"The source at {connection.address} ended the stream before {end}, although its binlog "
        "had reached this position."
    )

"""Reads the items of one source from an open dump, from its start position on."""

from collections.abc import Callable, Iterable, Iterator

from relay.errors import BinlogPurged, CorruptEvent, HistoryChanged, SourceUnreachable
from relay.model.change import Advance, RawItem, TransactionBegin
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import SourceIdentity, SourcePosition
from relay.source.events.binlog_event import Scanner
from relay.source.events.rolled_back_rows import ExcludedRange
from relay.source.events.transaction_assembler import TransactionAssembler
from relay.source.positions.history_watch import HistoryWatch
from relay.source.protocol.binlog_reader import BinlogReader
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.packets import PacketReader
from relay.source.protocol.server_facts import ServerFacts


class SourceStream:
    """The items of one source, from the position `start` on. One thread iterates; any thread may
    call `close`.

    `start` has the GTID set that was executed up to it. `server` describes the connected server.
    `left_out` are the rolled-back rows that are not yielded.
    """

    def __init__(
        self,
        connection: SourceConnection,
        server: ServerFacts,
        start: SourcePosition,
        *,
        by_gtid: bool,
        excluded: Iterable[ExcludedRange],
        scanner: Scanner | None = None,
    ) -> None:
        self.server = server
        self.start = start
        self.left_out = frozenset(excluded)
        self._connection = connection
        self._closed = False
        self._reading = False
        self._already = GtidSet.parse(start.gtid_set) if by_gtid else None
        self._packets = PacketReader(connection.taken_over(), connection.address)
        self._reader = BinlogReader(self._packets, connection.address)
        self._scanner = scanner
        identity = SourceIdentity(
            server.server_uuid, server.server_id, start.identity.file_created_s
        )
        self._watch = HistoryWatch(connection.settings, start)
        self._assembler = TransactionAssembler(
            mariadb=server.mariadb, identity=identity, excluded=self.left_out
        )

    def items(self, before_waiting: Callable[[], object] = lambda: None) -> Iterator[RawItem]:
        """Yield items until `close` is called. `before_waiting` is called before each possible wait
        for the network.

        Raises Unreachable (SourceUnreachable, SourceSilent), a Stop, or RolledBackRows.
        """
        self._reading = True
        self._packets.before_waiting = before_waiting
        try:
            for item in self._assembled():
                if self._closed:
                    return
                if self._already is not None and isinstance(item, TransactionBegin):
                    self._check_first(item)
                elif isinstance(item, Advance):
                    self._watch.rests(item)
                yield item
        except SourceUnreachable:
            if self._closed:
                return
            raise
        except (BinlogPurged, CorruptEvent) as exc:
            # A RESET deletes the file during the dump; MySQL 9 reports that as a file that cannot
            # be read.
            if changed := self._watch.change():
                raise changed from exc
            raise
        finally:
            self._connection.close()

    @property
    def identity(self) -> SourceIdentity:
        """The identity of the connected server, with the creation time of the binlog file that is
        being read. Only this time changes while the stream is read.
        """
        return self._assembler.identity

    @property
    def silent_seconds(self) -> float:
        """Return how many seconds the source has sent only heartbeats while `items` waits for it; 0
        if `items` does not wait.
        """
        return self._packets.silent_seconds

    def close(self) -> None:
        """End the iteration of `items`. Any thread may call it, also several times."""
        self._closed = True
        if self._reading:
            self._connection.cut()  # the reading thread gives the socket back
        else:
            self._connection.close()

    def _assembled(self) -> Iterator[RawItem]:
        """Yield the items of the events: one event by the reader, then many at once by the
        scanner if possible.
        """
        for event in self._reader.events():
            yield from self._assembler.feed(event)
            while self._scanner is not None and (
                items := self._reader.scan(self._scanner, self._assembler)
            ):
                yield from items

    def _check_first(self, item: TransactionBegin) -> None:
        """Check that a start by GTID does not send published transactions again."""
        already, self._already = self._already, None
        if already is None or not item.gtid:
            return
        # Without gtid_strict_mode, a MariaDB server may give a new transaction a lower sequence
        # number. Only the newest published GTIDs themselves cannot be new.
        if (
            already.contains(item.gtid)
            if already.intervals
            else item.gtid in str(already).split(",")
        ):
            raise HistoryChanged(
                f"The source sent {item.gtid} at {item.position} again, which was published before."
            )

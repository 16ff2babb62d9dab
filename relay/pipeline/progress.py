"""How far the instance is: the last whole source transaction, and what of the open one is done."""

from dataclasses import dataclass, field, replace

from relay.errors import HistoryChanged
from relay.model.change import Advance, TransactionBegin, TransactionEnd
from relay.model.gtid import GtidSet
from relay.model.position import OrderPair, SourcePosition
from relay.order import begin_transaction
from relay.position import PositionRecord, SplitProgress


@dataclass(slots=True)
class Progress:
    """Follows the stream and can say at any change what the position record must hold.

    `order` is the pair of the last change; `items` counts changes of the open transaction, of which the first `skip` were
    published before a restart.
    """

    record: PositionRecord
    configuration: str
    mapping_set: int
    begin: TransactionBegin | None = None
    order: OrderPair = field(init=False)
    items: int = 0
    moved: bool = False
    _gtids: GtidSet = field(init=False)

    def __post_init__(self) -> None:
        self.order = self.record.order
        self._gtids = GtidSet.parse(self.record.source.gtid_set)

    @property
    def whole(self) -> bool:
        return self.begin is None

    @property
    def skip(self) -> int:
        """Changes of the open transaction that are visible already."""
        return self.record.split.items_done if self.record.split is not None else 0

    def start_transaction(self, begin: TransactionBegin, now_ms: int, skew_ms: int) -> None:
        """Take the transaction's first pair. Raises HistoryChanged when another one follows than the half-published one."""
        split = self.record.split
        if split is not None and (split.begin, split.gtid) != (begin.position, begin.gtid):
            raise HistoryChanged(
                f"Part of the transaction at {split.begin} {split.gtid} is published, but {begin.position} {begin.gtid} follows."
            )
        changed_ms = change_time_ms(begin)
        self.begin = begin
        self.items = 0
        self.order = begin_transaction(self.record.order, self.record.epoch, begin.position, changed_ms, now_ms + skew_ms)
        if split is not None:
            self.order = replace(self.order, execute_time=split.execute_time)
        self.record = replace(self.record, change_time_ms=min(changed_ms, now_ms))

    def end_transaction(self, end: TransactionEnd) -> None:
        """The open transaction is whole."""
        if end.gtid:
            self._gtids = self._gtids.with_gtid(end.gtid)
        # A transaction without changes leaves the pair where it was.
        order = self.order if self.items else self.record.order
        source = SourcePosition(end.position, str(self._gtids), end.identity)
        self.record = replace(self.record, source=source, order=order, split=None)
        self.order, self.begin, self.moved = order, None, True

    def advance(self, item: Advance) -> None:
        """The source moved on without a transaction."""
        if item.position != self.record.source.binlog or item.identity != self.record.source.identity:
            source = replace(self.record.source, binlog=item.position, identity=item.identity)
            self.record = replace(self.record, source=source)
            self.moved = True

    def part_done(self) -> None:
        """What was taken of the open transaction goes into the next record."""
        if self.begin is not None and self.items > self.skip:
            split = SplitProgress(
                self.begin.position, self.begin.gtid, self.items, self.order.execute_time, self.mapping_set, self.configuration
            )
            self.record = replace(self.record, split=split)


def change_time_ms(begin: TransactionBegin) -> int:
    """When the change happened, as well as the source says it."""
    return begin.commit_time_ms if begin.commit_time_ms is not None else begin.header_time_s * 1000

"""Follows the progress of an instance, which position records store."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from relay.errors import HistoryChanged
from relay.model.change import Advance, StreamItem, TransactionBegin, TransactionEnd
from relay.model.names.mapping_name import MappingName
from relay.model.positions.position import BinlogPosition, OrderPair
from relay.model.records.last_transaction import MOST_CHANGES, first_changes
from relay.model.records.position_record import PositionRecord, SplitProgress
from relay.model.records.snapshot_progress import SnapshotProgress
from relay.model.records.transaction_report import TransactionReport
from relay.order import begin_transaction
from relay.pipeline.checkpoint.record_draft import RecordDraft
from relay.pipeline.checkpoint.skip_policy import SkipReason, is_at_or_after, skip_reason
from relay.pipeline.checkpoint.source_progress import each_source
from relay.pipeline.ingest.position_digests import FingerprintRecorder


class Progress:
    """Follows the items of the stream and gives the position record of each moment; only the
    checkpoint changes it. "Published" changes are those that Kafka has committed.

    draft           the record that is committed next
    mapping         the mapping set that the open transaction is published under
    begin           the begin of the open transaction, None between two transactions
    split           the published part of the open or next transaction, None if there is none
    order           the order key of the last change
    items           taken changes of the open transaction, of which the first `skip` are published
    change_time_ms  the time of the last begun transaction, at most the relay's clock (Unix ms)
    following       the source of a group that the items come from, "" for a single source
    source_idle     whether the last item reported that the source has no more data
    moved           whether the position differs from the committed one
    skip_reason     why the open transaction is not published, None if it is published
    report          the counts of its published rows, if the instance has a topic of transactions
    """

    def __init__(
        self,
        record: PositionRecord,
        configuration: str,
        mapping: MappingName,
        *,
        keeps_gtids: bool = True,
        follows_names: Collection[str] = (),
        fingerprints: FingerprintRecorder | None = None,
    ) -> None:
        """Continue after `record`.

        configuration  the digest of the settings that decide which messages a transaction becomes
        mapping        the active mapping set
        keeps_gtids    False: the record gets no GTIDs, because the set would be incomplete
        follows_names  sources ("" for a single one) whose schema history was read up to `record`
        fingerprints   computes digests that identify each position on other servers
        """
        self._fingerprints = fingerprints
        self._keeps_gtids = keeps_gtids
        self._sources = each_source(record, follows_names, keeps_gtids=keeps_gtids)
        self._source = self._sources[record.following]
        self.configuration = configuration
        self.mapping = mapping
        # A half-published transaction is ended under its own set; the record names the next one.
        self._named = (
            mapping if record.split is None or not record.mapping_digest else record.mapping
        )
        self.begin: TransactionBegin | None = None
        self.order = record.order
        self.items = 0
        self.moved = False
        self.source_idle = False
        self.skip_reason: SkipReason | None = None
        self.report: TransactionReport | None = None
        self._changes: list[bytes] = []  # the first ones of the open transaction
        self.draft = RecordDraft(record)
        # Transactions are frequent and commits are rare: their changes are kept here, and a record
        # is made from them only when it is read.
        self._stale = bool(follows_names)
        self._end_order = record.order
        self.change_time_ms = record.change_time_ms
        self.split = record.split
        self._replay = record.replay
        self.following = record.following

    @property
    def record(self) -> PositionRecord:
        """The position record of this moment."""
        if self._stale:
            standing = self._source.standing
            self.draft.record = replace(
                self.draft.record.under(self._named),
                names=standing.names,
                source=standing.source,
                order=self._end_order,
                change_time_ms=self.change_time_ms,
                split=self.split,
                replay=self._replay,
                skips=standing.skips,
                place=None
                if self._fingerprints is None
                else self._fingerprints.at(standing.source.binlog),
                following=self.following,
                others={
                    name: each.standing
                    for name, each in self._sources.items()
                    if name != self.following
                },
            )
            self._stale = False
        return self.draft.record

    @property
    def epoch(self) -> int:
        """The epoch of new order keys."""
        return self.draft.record.epoch

    @property
    def whole(self) -> bool:
        """Return whether no source transaction is open."""
        return self.begin is None

    @property
    def between_transactions(self) -> bool:
        """Return whether no transaction is open, and none was half published before a restart."""
        return self.begin is None and self.split is None

    @property
    def leaves_nothing_out(self) -> bool:
        """Return whether all later rows are published, because no split, replay or skip remains."""
        return self.between_transactions and self._replay is None and not self._source.skips

    @property
    def skip(self) -> int:
        """The number of changes of the open transaction that Kafka already has."""
        return self.split.items_done if self.split is not None else 0

    @property
    def to_skip(self) -> int:
        """The number of the next changes that Kafka already has, and that are not
        published again.
        """
        return 0 if self.split is None else max(0, self.split.items_done - self.items)

    def take(self, changes: int, order: OrderPair | None = None) -> None:
        """Count `changes` changes as taken. `order` is the order key of the last; None: each takes
        one key.
        """
        self.items += changes
        self.order = order or OrderPair(
            self.order.execute_time, self.order.execute_position + changes
        )

    def take_prepared(self) -> None:
        """Count a row event of a prepared transaction; its rows take order keys at the COMMIT."""
        self.items += 1

    def publish_under(self, mapping: MappingName) -> None:
        """Publish under `mapping` from the next transaction on. The next record names this set."""
        self.mapping = self._named = mapping
        self.moved = self._stale = True

    @property
    def at(self) -> BinlogPosition:
        """The end of the last whole transaction, or a later position that the source reported
        without a transaction.
        """
        return self._source.end.position

    def copies(
        self, snapshots: dict[str, SnapshotProgress], order: OrderPair | None = None
    ) -> None:
        """Set the progress of copy requests, and the order key of the last copied row (`order`)."""
        self.draft.record = replace(self.draft.record, snapshots=snapshots)
        self.moved = True
        if order is not None and order > self.order:
            self.order = self._end_order = order
            self._stale = True

    def start_transaction(self, begin: TransactionBegin, now_ms: int, skew_ms: int) -> None:
        """Open a transaction, and set the order key before its first change. Commit times may be
        `skew_ms` ahead of `now_ms`. Raises HistoryChanged if it is not the expected half-published
        transaction.
        """
        split = self.split
        if split is not None and not split.is_of(begin.gtid, begin.position):
            raise HistoryChanged(
                f"A part of the transaction at {split.begin} {split.gtid} is published, but "
                f"the source continues with another transaction at {begin.position} "
                f"{begin.gtid}."
            )
        changed_ms = begin.change_time_ms
        self.source_idle = False
        self.begin = begin
        self.items = 0
        self._changes = []
        latest_ms = now_ms + skew_ms
        if self._replay is not None or self._source.skips:
            self.skip_reason = skip_reason(begin, self._replay, self._source.skips)
            if self._replay is not None:
                latest_ms = min(latest_ms, self._replay.order.execute_time)
        self.order = begin_transaction(
            self._end_order, self.draft.record.epoch, begin.position, changed_ms, latest_ms
        )
        if split is not None:
            self.order = OrderPair(split.execute_time, self.order.execute_position)
        self.change_time_ms = min(changed_ms, now_ms)
        self._stale = True

    def saw(self, items: Sequence[StreamItem]) -> None:
        """Record read items of the open transaction; the first ones help to identify it."""
        self.source_idle = False
        if len(self._changes) < MOST_CHANGES:
            self._changes += first_changes(items[: MOST_CHANGES - len(self._changes)])

    def end_transaction(self, end: TransactionEnd) -> None:
        """Record that the open transaction ended with `end`."""
        self.source_idle = False
        if self.begin is not None:
            self._source.changed(self.begin, self._changes)
        if end.gtid and self._keeps_gtids:
            self._source.ended.append(end.gtid)
        if self.items:
            self._end_order = self.order
        else:  # a transaction without changes leaves the pair where it was
            self.order = self._end_order
        self._source.end, self.split, self.begin = end, None, None
        self.moved = self._stale = True
        if self.skip_reason is SkipReason.SKIPPED:
            self._source.skips = tuple(each for each in self._source.skips if each != end.gtid)
        self.skip_reason = None
        self._end_replay(end.position)

    def end_transactions(
        self,
        gtids: Sequence[str],
        end: TransactionEnd,
        order: OrderPair,
        change_time_ms: int,
        last: tuple[TransactionBegin, Sequence[bytes]] | None,
    ) -> None:
        """Record several whole transactions with these `gtids`. `end`, `order` and `change_time_ms`
        are those of the last transaction. `last`: the begin and first changes of the last
        transaction with a change.
        """
        self.source_idle = False
        if last is not None:
            self._source.changed(*last)
        self._source.ended += gtids
        self.order = self._end_order = order
        self.change_time_ms = change_time_ms
        self._source.end = end
        self.moved = self._stale = True

    def advance(self, item: Advance) -> None:
        """Record that the position moved without a transaction, or the source has no more data."""
        end = self._source.end
        self.source_idle = item.position == end.position and item.identity == end.identity
        if self.source_idle:
            return
        self._source.end = TransactionEnd(item.position, "", item.identity)
        self.moved = self._stale = True
        if self.begin is None:
            self._end_replay(item.position)

    def follow(self, source: str) -> None:
        """Record that the next items come from this source of a group. Order keys continue."""
        self.source_idle = False
        if source != self.following:
            self._source = self._sources[source]
            self.following, self._stale = source, True

    @property
    def part_begin(self) -> TransactionBegin | None:
        """The begin of the open transaction, if the next record would contain a published part of
        it; otherwise None. A skipped transaction has no published part.
        """
        is_skipped = self.skip_reason is SkipReason.SKIPPED
        return None if is_skipped or self.items <= self.skip else self.begin

    def part_done(self) -> None:
        """Record that the next record publishes what was taken of the open transaction."""
        if (begin := self.part_begin) is not None:
            self.split = SplitProgress(
                begin.position,
                begin.gtid,
                self.items,
                self.order.execute_time,
                self.mapping.number,
                self.configuration,
                self.mapping.digest,
                without_rolled_back=True,
                report=self.report,
            )
            self._stale = True

    def _end_replay(self, position: BinlogPosition) -> None:
        """After the former position of the instance, continue with the order key there."""
        if self._replay is not None and is_at_or_after(position, self._replay.until):
            self.order = self._end_order = self._end_order.raised_to(self._replay.order)
            self._replay = None

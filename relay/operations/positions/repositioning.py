"""What a wish for another position, floor or skip makes of the record: pure decisions."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from relay.errors import MoveRefused
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import BinlogPosition, OrderPair, SourcePosition
from relay.model.records.position_record import OtherSource, PositionRecord, Replay
from relay.order import MAX_EPOCH


class MoveKind(StrEnum):
    """What a move means for consumers."""

    FORWARD = "forward"
    """What lies between is left out."""
    BACK = "back"
    """What lies between comes again with the pairs that it had."""
    AS_NEW = "as new"
    """What lies behind the place comes with new pairs, above all that were published."""


@dataclass(frozen=True, slots=True)
class Move:
    """A move of a position; `before` is None for an instance without a record.

    `source` is the one of a group that moves, else "".
    """

    kind: MoveKind
    target: SourcePosition
    before: PositionRecord | None
    after: PositionRecord
    source: str = ""

    @property
    def origin(self) -> SourcePosition | None:
        """The position that is left; None where there is none."""
        return None if self.before is None else self.before.positions.get(self.source)


def plan_move(
    record: PositionRecord | None,
    target: SourcePosition,
    history: Iterable[PositionRecord],
    *,
    as_new: bool,
    latest_ms: int,
    source: str = "",
) -> Move:
    """Say what the record becomes when the position moves to `target`, the beginning of a
    transaction; of a group that of one `source`.

    `latest_ms` is the relay's clock plus the accepted skew: no pair that was published lies above
    it. Raises MoveRefused.
    """
    if record is None:
        return _without_record(target, source, as_new=as_new, latest_ms=latest_ms)
    at = standing_of(record, source)
    if as_new or at is None or at.source.identity.server != target.identity.server:
        return _as_new(record, target, source, at, as_new=as_new)
    if target.binlog.rank == at.source.binlog.rank:
        raise MoveRefused(
            f"The position is {target.binlog} already.",
            remedy="Nothing to do; --as-new opens an epoch here.",
        )
    highest_place = at.source.binlog if record.replay is None else record.replay.until
    if target.binlog.rank >= highest_place.rank:
        return Move(
            MoveKind.FORWARD, target, record, _in_next_epoch(record, source, target), source
        )
    if source:
        raise MoveRefused(
            f"What lies behind {target.binlog} of {source} cannot come again with the pairs that "
            f"it had: they hang on what the other "
            "sources brought meanwhile.",
            remedy=(
                "Add --as-new: what lies behind the place comes with new pairs, and consumers "
                "apply it again; the others go on."
            ),
        )
    return _back(record, target, history)


def standing_of(record: PositionRecord, source: str) -> OtherSource | None:
    """Where a source stands, None for one of a group that was never read.

    Raises MoveRefused where the record is not of such sources.
    """
    if bool(source) != bool(record.following):
        kind = "a group of sources" if record.following else "a single source"
        raise MoveRefused(
            f"The position is still that of {kind}.",
            remedy="Let a relay run with the settings as they are now, first.",
        )
    return record.standing.get(source)


def raise_floor(record: PositionRecord, above: OrderPair) -> PositionRecord:
    """The record whose next pair lies above another instance's last one.

    Raises MoveRefused when it does so already.
    """
    _, order = _reached(record)
    raised = order.raised_to(above)
    if raised == order:
        raise MoveRefused(
            f"The pairs of this instance lie above {above.execute_time}.{above.execute_position} "
            f"already.",
            remedy="Nothing to do.",
        )
    if record.split is not None:
        raise MoveRefused(
            f"Part of the transaction at {record.split.begin} is published with the pairs of "
            f"before.",
            remedy="Try again when it is whole.",
        )
    replayed = None if record.replay is None else replace(record.replay, order=raised)
    return replace(record, order=record.order if replayed else raised, replay=replayed)


def skip(record: PositionRecord, gtid: str, source: str = "") -> PositionRecord:
    """The record that leaves a coming transaction of a source out.

    Raises MoveRefused for what is no single GTID, or is published.
    """
    wanted, at = _single(gtid), _read_before(record, source)
    if GtidSet.parse(at.source.gtid_set).contains(wanted):
        raise MoveRefused(
            f"{wanted} lies behind the position {at.source.binlog}: it is published, or was left "
            f"out."
        )
    if wanted in at.skips:
        raise MoveRefused(f"{wanted} is to be skipped already.", remedy="Nothing to do.")
    return record.with_source(source, replace(at, skips=(*at.skips, wanted)))


def unskip(record: PositionRecord, gtid: str, source: str = "") -> PositionRecord:
    """The record that publishes a transaction that was to be skipped.

    Raises MoveRefused where it was not.
    """
    wanted, at = _single(gtid), _read_before(record, source)
    if wanted not in at.skips:
        raise MoveRefused(
            f"{wanted} is not to be skipped.", remedy="`roma position show` lists those that are."
        )
    return record.with_source(
        source, replace(at, skips=tuple(each for each in at.skips if each != wanted))
    )


def _read_before(record: PositionRecord, source: str) -> OtherSource:
    at = standing_of(record, source)
    if at is None:
        raise MoveRefused(
            f"Source {source} has no position yet.",
            remedy="Start a relay first, or set a position with --as-new.",
        )
    return at


def _without_record(target: SourcePosition, source: str, *, as_new: bool, latest_ms: int) -> Move:
    if not as_new:
        raise MoveRefused(
            "The instance has no position record, so nobody knows which pairs were published.",
            remedy="Add --as-new.",
        )
    after = PositionRecord(
        target, OrderPair(latest_ms, 0), epoch=1, change_time_ms=latest_ms, following=source
    )
    return Move(MoveKind.AS_NEW, target, None, after, source)


def _as_new(
    record: PositionRecord,
    target: SourcePosition,
    source: str,
    at: OtherSource | None,
    *,
    as_new: bool,
) -> Move:
    if not as_new and at is None:
        raise MoveRefused(
            f"Source {source} has no position yet, and begins where [instances.start] says.",
            remedy="Add --as-new.",
        )
    if not as_new and at is not None:
        reason = (
            f"The position {at.source.binlog} belongs to another server than {target.binlog} does."
        )
        raise MoveRefused(
            reason, remedy="Point the instance to the server that it belongs to, or add --as-new."
        )
    return Move(MoveKind.AS_NEW, target, record, _in_next_epoch(record, source, target), source)


def _in_next_epoch(record: PositionRecord, source: str, target: SourcePosition) -> PositionRecord:
    """The record with one source elsewhere, and no pair below one that was published.

    What others have half published goes on.
    """
    _, order = _reached(record)
    split = record.split
    if split is not None and source == record.following:
        order, split = (
            order._replace(execute_time=max(order.execute_time, split.execute_time)),
            None,
        )
    at = record.standing.get(source) or OtherSource(target)
    after = replace(
        record, order=order, epoch=_next_epoch(record), split=split, replay=None, place=None
    )
    return after.with_source(source, replace(at, source=target))


def _back(
    record: PositionRecord, target: SourcePosition, history: Iterable[PositionRecord]
) -> Move:
    place, order = _reached(record)
    fitting = [
        each
        for each in history
        if each.epoch == record.epoch
        and each.source.identity.server == target.identity.server
        and each.order.execute_position <= order.execute_position
    ]
    before_target = [each for each in fitting if each.source.binlog.rank <= target.binlog.rank]
    if not before_target:
        oldest = min(
            (each.source.binlog for each in fitting), key=lambda place: place.rank, default=None
        )
        known = (
            "no older pair of this epoch is known"
            if oldest is None
            else f"the oldest place of this epoch whose pair is known is {oldest}"
        )
        raise MoveRefused(
            f"What lies behind {target.binlog} cannot come again with the pairs that it had: "
            f"{known}.",
            remedy=(
                "Name a place behind that one, or add --as-new: everything then comes with new "
                "pairs, and consumers apply it again."
            ),
        )
    entry = max(before_target, key=lambda each: each.source.binlog.rank)
    after = replace(
        record,
        source=entry.source,
        order=entry.order,
        change_time_ms=entry.change_time_ms,
        split=None,
        replay=Replay(target.binlog, place, order),
        place=entry.place,
    )
    return Move(MoveKind.BACK, target, record, after)


def _reached(record: PositionRecord) -> tuple[BinlogPosition, OrderPair]:
    """How far the instance ever was, and its pair there."""
    return (
        (record.source.binlog, record.order)
        if record.replay is None
        else (record.replay.until, record.replay.order)
    )


def _next_epoch(record: PositionRecord) -> int:
    return min(record.epoch + 1, MAX_EPOCH)


def _single(gtid: str) -> str:
    """The GTID as the servers print it."""
    try:
        wanted = GtidSet.parse(gtid)
    except ValueError as exc:
        raise MoveRefused(
            f"{exc}.", remedy="Name one transaction, as the server prints it."
        ) from exc
    intervals = [interval for held in wanted.intervals.values() for interval in held]
    if len(wanted.domains) + sum(last - first + 1 for first, last in intervals) != 1:
        raise MoveRefused(
            f"{gtid!r} is not one transaction.",
            remedy="Name one transaction, as the server prints it.",
        )
    return str(wanted)

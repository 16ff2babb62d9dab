"""What a wish for another position, floor or skip makes of the record: pure decisions."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from relay.errors import MoveRefused
from relay.model.gtid import GtidSet
from relay.model.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.order import MAX_EPOCH, file_number
from relay.position import PositionRecord, Replay


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
    """A move of a position; `before` is None for an instance without a record."""

    kind: MoveKind
    target: SourcePosition
    before: PositionRecord | None
    after: PositionRecord


def plan_move(
    record: PositionRecord | None, target: SourcePosition, waypoints: Iterable[PositionRecord], *, as_new: bool, latest_ms: int
) -> Move:
    """Say what the record becomes when the position moves to `target`, the beginning of a transaction.

    `latest_ms` is the relay's clock plus the accepted skew: no pair that was published lies above it. Raises MoveRefused.
    """
    if record is None:
        return _without_record(target, as_new=as_new, latest_ms=latest_ms)
    highest_place, highest_order = _reached(record)
    same_server = server_of(record.source.identity) == server_of(target.identity)
    if as_new or not same_server:
        return _as_new(record, target, highest_order, as_new=as_new)
    if _number(target.binlog) == _number(record.source.binlog):
        raise MoveRefused(f"The position is {target.binlog} already.", remedy="Nothing to do; --as-new opens an epoch here.")
    if _number(target.binlog) >= _number(highest_place):
        after = replace(record, source=target, order=highest_order, epoch=_next_epoch(record), split=None, replay=None)
        return Move(MoveKind.FORWARD, target, record, after)
    return _back(record, target, waypoints)


def raise_floor(record: PositionRecord, above: OrderPair) -> PositionRecord:
    """The record whose next pair lies above another instance's last one. Raises MoveRefused when it does so already."""
    _, order = _reached(record)
    raised = OrderPair(max(order.execute_time, above.execute_time), max(order.execute_position, above.execute_position))
    if raised == order:
        raise MoveRefused(
            f"The pairs of this instance lie above {above.execute_time}.{above.execute_position} already.", remedy="Nothing to do."
        )
    if record.split is not None:
        raise MoveRefused(
            f"Part of the transaction at {record.split.begin} is published with the pairs of before.", remedy="Try again when it is whole."
        )
    replayed = None if record.replay is None else replace(record.replay, order=raised)
    return replace(record, order=record.order if replayed else raised, replay=replayed)


def skip(record: PositionRecord, gtid: str) -> PositionRecord:
    """The record that leaves a coming transaction out. Raises MoveRefused for what is no single GTID, or is published."""
    wanted = _single(gtid)
    if GtidSet.parse(record.source.gtid_set).contains(wanted):
        raise MoveRefused(f"{wanted} lies behind the position {record.source.binlog}: it is published, or was left out.")
    if wanted in record.skips:
        raise MoveRefused(f"{wanted} is to be skipped already.", remedy="Nothing to do.")
    return replace(record, skips=(*record.skips, wanted))


def unskip(record: PositionRecord, gtid: str) -> PositionRecord:
    """The record that publishes a transaction that was to be skipped. Raises MoveRefused where it was not."""
    wanted = _single(gtid)
    if wanted not in record.skips:
        raise MoveRefused(f"{wanted} is not to be skipped.", remedy="`roma position show` lists those that are.")
    return replace(record, skips=tuple(each for each in record.skips if each != wanted))


def _without_record(target: SourcePosition, *, as_new: bool, latest_ms: int) -> Move:
    if not as_new:
        raise MoveRefused("The instance has no position record, so nobody knows which pairs were published.", remedy="Add --as-new.")
    after = PositionRecord(target, OrderPair(latest_ms, 0), epoch=1, change_time_ms=latest_ms)
    return Move(MoveKind.AS_NEW, target, None, after)


def _as_new(record: PositionRecord, target: SourcePosition, order: OrderPair, *, as_new: bool) -> Move:
    if not as_new:
        reason = f"The position {record.source.binlog} belongs to another server than {target.binlog} does."
        raise MoveRefused(reason, remedy="Point the instance to the server that it belongs to, or add --as-new.")
    after = replace(record, source=target, order=order, epoch=_next_epoch(record), split=None, replay=None)
    return Move(MoveKind.AS_NEW, target, record, after)


def _back(record: PositionRecord, target: SourcePosition, waypoints: Iterable[PositionRecord]) -> Move:
    place, order = _reached(record)
    fitting = [
        each
        for each in waypoints
        if each.epoch == record.epoch
        and server_of(each.source.identity) == server_of(target.identity)
        and each.order.execute_position <= order.execute_position
    ]
    before_target = [each for each in fitting if _number(each.source.binlog) <= _number(target.binlog)]
    if not before_target:
        oldest = min((each.source.binlog for each in fitting), key=_number, default=None)
        known = (
            "no older pair of this epoch is known" if oldest is None else f"the oldest place of this epoch whose pair is known is {oldest}"
        )
        raise MoveRefused(
            f"What lies behind {target.binlog} cannot come again with the pairs that it had: {known}.",
            remedy="Name a place behind that one, or add --as-new: everything then comes with new pairs, and consumers apply it again.",
        )
    waypoint = max(before_target, key=lambda each: _number(each.source.binlog))
    after = replace(
        record,
        source=waypoint.source,
        order=waypoint.order,
        change_time_ms=waypoint.change_time_ms,
        split=None,
        replay=Replay(target.binlog, place, order),
    )
    return Move(MoveKind.BACK, target, record, after)


def _reached(record: PositionRecord) -> tuple[BinlogPosition, OrderPair]:
    """How far the instance ever was, and its pair there."""
    return (record.source.binlog, record.order) if record.replay is None else (record.replay.until, record.replay.order)


def _next_epoch(record: PositionRecord) -> int:
    return min(record.epoch + 1, MAX_EPOCH)


def _number(place: BinlogPosition) -> tuple[int, int]:
    return file_number(place.file), place.offset


def server_of(identity: SourceIdentity) -> str:
    """What tells one server's history from another's."""
    return identity.server_uuid or str(identity.server_id)


def _single(gtid: str) -> str:
    """The GTID as the servers print it."""
    try:
        wanted = GtidSet.parse(gtid)
    except ValueError as exc:
        raise MoveRefused(f"{exc}.", remedy="Name one transaction, as the server prints it.") from exc
    intervals = [interval for held in wanted.intervals.values() for interval in held]
    if len(wanted.domains) + sum(last - first + 1 for first, last in intervals) != 1:
        raise MoveRefused(f"{gtid!r} is not one transaction.", remedy="Name one transaction, as the server prints it.")
    return str(wanted)

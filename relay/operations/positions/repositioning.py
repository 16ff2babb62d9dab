"""Computes the new position record for a move, a raised order key or a skip. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from relay.errors import MoveRefused
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import BinlogPosition, OrderPair, SourcePosition
from relay.model.records.followed_names import names_kept
from relay.model.records.position_record import OtherSource, PositionRecord, Replay
from relay.order import MAX_EPOCH, decompose


class RepositionKind(StrEnum):
    """The direction of a move, which decides its effect on consumers."""

    FORWARD = "forward"
    """The rows between the two positions are skipped."""
    BACK = "back"
    """The rows between the positions are published again with their former order keys."""
    AS_NEW = "as new"
    """The rows after the position get new order keys, above all published ones."""


@dataclass(frozen=True, slots=True)
class Reposition:
    """A move of an instance's position.

    `target` is the new position. `before` is the former record, None without one; `after` is the
    new record. `source` is the moved source of a group, "" for a single source.
    """

    kind: RepositionKind
    target: SourcePosition
    before: PositionRecord | None
    after: PositionRecord
    source: str = ""

    @property
    def origin(self) -> SourcePosition | None:
        """The former position; None if there was none."""
        return None if self.before is None else self.before.positions.get(self.source)


def plan_reposition(
    record: PositionRecord | None,
    target: SourcePosition,
    history: Iterable[PositionRecord],
    *,
    as_new: bool,
    latest_ms: int,
    source: str = "",
) -> Reposition:
    """Return the move of a position to `target`, where a transaction begins. In a group, `source`
    is moved. `history` are earlier records, whose order keys a move back uses. `as_new`: rows after
    the target get new order keys. `latest_ms` is the relay's clock plus the allowed skew; no
    published order key is above it. Raises MoveRefused; without `as_new` in more cases.
    """
    if record is None:
        return _without_record(target, source, as_new=as_new, latest_ms=latest_ms)
    at = standing_of(record, source)
    if as_new or at is None or at.source.identity.server != target.identity.server:
        return _as_new(record, target, source, at, as_new=as_new)
    if target.binlog.rank == at.source.binlog.rank:
        raise MoveRefused(
            f"The position of the instance is already {target.binlog}.",
            remedy="There is nothing to do. To begin a new epoch here, add --as-new.",
        )
    highest_place = at.source.binlog if record.replay is None else record.replay.until
    if target.binlog.rank >= highest_place.rank:
        return Reposition(
            RepositionKind.FORWARD, target, record, _in_next_epoch(record, source, target), source
        )
    if source:
        raise MoveRefused(
            f"Rows after {target.binlog} of {source} cannot be published again with their "
            "former order keys, because those depend on the rows of the group's other sources.",
            remedy=(
                "Add --as-new: the rows after the position then get new order keys, and consumers "
                "apply them again. The other sources keep their positions."
            ),
        )
    return _back(record, target, history)


def standing_of(record: PositionRecord, source: str) -> OtherSource | None:
    """Return the position of a source; None for a source of a group that was never read. Raises
    MoveRefused if the record is that of a group and `source` is "", or the other way round.
    """
    if bool(source) != bool(record.following):
        kind = "a group of sources" if record.following else "a single source"
        raise MoveRefused(
            f"The position record is still that of {kind}, and the settings are different.",
            remedy="Start a relay with the present settings first, then repeat the command.",
        )
    return record.standing.get(source)


def raise_floor(record: PositionRecord, above: OrderPair) -> PositionRecord:
    """Return the record whose next order key is above `above`. It has a new epoch, because a later
    move back over this point could not repeat the earlier order keys.

    Raises MoveRefused if the order key is already above, or rows are half published or published
    again.
    """
    _, order = _reached(record)
    raised = order.raised_to(above)
    if raised == order:
        raise MoveRefused(
            f"The order keys of this instance are above "
            f"{above.execute_time}.{above.execute_position} "
            f"already.",
            remedy="Nothing to do.",
        )
    if record.split is not None:
        raise MoveRefused(
            f"A part of the transaction at {record.split.begin} was published with the former "
            "order keys.",
            remedy="Try again when the relay has published all of it.",
        )
    if record.replay is not None:
        raise MoveRefused(
            f"The relay is publishing rows up to {record.replay.until} again, with their "
            "former order keys.",
            remedy="Try again when the relay has passed that position.",
        )
    epoch = max(record.epoch, decompose(above.execute_position).epoch) + 1
    return replace(record, order=raised, epoch=min(epoch, MAX_EPOCH))


def skip(record: PositionRecord, gtid: str, source: str = "") -> PositionRecord:
    """Return the record that skips an unpublished transaction of a source. Raises MoveRefused if
    `gtid` is not a single GTID, or is already published or skipped.
    """
    wanted, at = _single(gtid), _read_before(record, source)
    if GtidSet.parse(at.source.gtid_set).contains(wanted):
        raise MoveRefused(
            f"{wanted} is before the position {at.source.binlog}: it was published or skipped."
        )
    if wanted in at.skips:
        raise MoveRefused(f"{wanted} is on the skip list already.", remedy="Nothing to do.")
    return record.with_source(source, replace(at, skips=(*at.skips, wanted)))


def unskip(record: PositionRecord, gtid: str, source: str = "") -> PositionRecord:
    """Return the record without the skip of a transaction, which is then published. Raises
    MoveRefused if the transaction is not to be skipped.
    """
    wanted, at = _single(gtid), _read_before(record, source)
    if wanted not in at.skips:
        raise MoveRefused(
            f"{wanted} is not on the skip list.", remedy="`roma position show` prints that list."
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


def _without_record(
    target: SourcePosition, source: str, *, as_new: bool, latest_ms: int
) -> Reposition:
    if not as_new:
        raise MoveRefused(
            "The instance has no position record, so the published order keys are unknown.",
            remedy="Add --as-new.",
        )
    after = PositionRecord(
        target, OrderPair(latest_ms, 0), epoch=1, change_time_ms=latest_ms, following=source
    )
    return Reposition(RepositionKind.AS_NEW, target, None, after, source)


def _as_new(
    record: PositionRecord,
    target: SourcePosition,
    source: str,
    at: OtherSource | None,
    *,
    as_new: bool,
) -> Reposition:
    if not as_new and at is None:
        raise MoveRefused(
            f"Source {source} has no position yet, and begins at [instances.start].",
            remedy="Add --as-new.",
        )
    if not as_new and at is not None:
        reason = (
            f"The position {at.source.binlog} belongs to another server than {target.binlog} does."
        )
        raise MoveRefused(
            reason, remedy="Configure the server that the position belongs to, or add --as-new."
        )
    return Reposition(
        RepositionKind.AS_NEW, target, record, _in_next_epoch(record, source, target), source
    )


def _in_next_epoch(record: PositionRecord, source: str, target: SourcePosition) -> PositionRecord:
    """Return the record with one source moved, in an epoch above all published order keys.

    Half-published transactions of other sources continue. The schema history continues only on the
    same server, and only if its binlog still has the following events.
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
    is_same_server = at.source.identity.server == target.identity.server
    names = names_kept(at.source, at.names) if is_same_server else None
    return after.with_source(source, replace(at, source=target, names=names))


def _back(
    record: PositionRecord, target: SourcePosition, history: Iterable[PositionRecord]
) -> Reposition:
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
        raise _too_far_back(target, fitting)
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
    return Reposition(RepositionKind.BACK, target, record, after)


def _too_far_back(target: SourcePosition, fitting: Iterable[PositionRecord]) -> MoveRefused:
    oldest = min(
        (each.source.binlog for each in fitting), key=lambda place: place.rank, default=None
    )
    known = (
        "no older order key of this epoch is known"
        if oldest is None
        else f"the oldest position of this epoch whose order key is known is {oldest}"
    )
    return MoveRefused(
        f"Rows after {target.binlog} cannot be published again with their former order keys: "
        f"{known}.",
        remedy=(
            "Give a later position, or add --as-new: the rows then get new order keys, and "
            "consumers apply them again."
        ),
    )


def _reached(record: PositionRecord) -> tuple[BinlogPosition, OrderPair]:
    """Return the farthest position of the instance, and its order key."""
    return (
        (record.source.binlog, record.order)
        if record.replay is None
        else (record.replay.until, record.replay.order)
    )


def _next_epoch(record: PositionRecord) -> int:
    return min(record.epoch + 1, MAX_EPOCH)


def _single(gtid: str) -> str:
    """Return the GTID in the servers' notation."""
    remedy = "Give the GTID of one transaction, as the server prints it."
    try:
        wanted = GtidSet.parse(gtid)
    except ValueError as exc:
        raise MoveRefused(f"{exc}.", remedy=remedy) from exc
    intervals = [interval for held in wanted.intervals.values() for interval in held]
    if len(wanted.domains) + sum(last - first + 1 for first, last in intervals) != 1:
        raise MoveRefused(f"{gtid!r} is not the GTID of one transaction.", remedy=remedy)
    return str(wanted)

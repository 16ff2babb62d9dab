"""Converts between the position record of a group and the record of one of its sources."""

from dataclasses import replace

from relay.model.records.position_record import OtherSource, PositionRecord


def record_of(record: PositionRecord | None, name: str) -> PositionRecord | None:
    """Return a group's record reduced to the source `name`; None without a record, or if the source
    has no position yet.

    A half-published transaction and a replay belong to the source that the record follows.
    """
    at = None if record is None else record.standing.get(name)
    if record is None or at is None:
        return None
    own = name == record.following
    return replace(
        record,
        source=at.source,
        names=at.names,
        skips=at.skips,
        split=record.split if own else None,
        replay=record.replay if own else None,
        following="",
        others={},
    )


def with_switched(record: PositionRecord, name: str, moved: PositionRecord) -> PositionRecord:
    """Return the group's record after the switch of one source to another server.

    record  the group's record before the switch
    name    the source that is switched
    moved   the record of this source alone, on the new server

    The epoch and the order key of `moved` then apply to all sources.
    """
    if name == record.following:
        return replace(moved, following=name, others=record.others)
    there = OtherSource(moved.source, moved.names, moved.skips)
    return replace(record, order=moved.order, epoch=moved.epoch).with_source(name, there)

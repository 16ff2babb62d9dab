"""What is done by hand, in sentences for people."""

from collections.abc import Iterator

from relay.model.gtid import GtidSet
from relay.model.position import SourcePosition
from relay.operations.instance_position import Preview, Shown
from relay.operations.moves import Move, MoveKind


def shown(position: Shown) -> str:
    """The position, a line for each thing that is to be said of it."""
    return "\n".join(_shown(position))


def foretold(instance: str, preview: Preview) -> str:
    """What a move would do."""
    move, leader = preview.move, preview.leader
    lines = [_direction(preview), _meaning(move), *_split(move)]
    if leader is not None:
        lines.append(f"{leader} leads {instance}: Kafka takes nothing more of it from the old place, and it goes on at the new one.")
    return "\n".join(lines)


def moved(instance: str, move: Move) -> str:
    """What a move has done."""
    return f"{instance} goes on {move.kind.value} at {move.target.binlog}, epoch {move.after.epoch}."


def found_place(instance: str, place: SourcePosition) -> str:
    """A place that was looked for, and how to go there."""
    lines = [
        f"place      {place.binlog}",
        f"gtid set   {place.gtid_set or 'none'}",
        f"server     {place.identity.server_uuid or place.identity.server_id}",
        f"go there   roma position set {instance} --file {place.binlog.file} --offset {place.binlog.offset}",
    ]
    return "\n".join(lines)


def _shown(position: Shown) -> Iterator[str]:
    record = position.record
    yield f"leader     {position.leader or 'nobody'}"
    if record is None:
        yield "position   none was ever committed"
        return
    yield f"position   {record.source.binlog}"
    yield f"gtid set   {record.source.gtid_set or 'none'}"
    yield f"server     {record.source.identity.server_uuid or record.source.identity.server_id}"
    yield f"pair       {record.order.execute_time}.{record.order.execute_position}"
    yield f"epoch      {record.epoch}"
    yield f"format     {record.format}"
    if record.split is not None:
        yield f"in parts   the transaction at {record.split.begin} {record.split.gtid}: {record.split.items_done} changes are published"
    if record.replay is not None:
        yield f"replay     from {record.replay.publish_from} to {record.replay.until}"
    if record.skips:
        yield f"to skip    {', '.join(record.skips)}"
    behind = position.places_behind
    yield f"back to    {f'any transaction from {behind[0]} on' if behind else 'nowhere'}, with the pairs that rows had"


def _direction(preview: Preview) -> str:
    move = preview.move
    if move.before is None:
        return f"To {move.target.binlog}; the instance has no position."
    size = "an unknown number of bytes" if preview.distance_bytes is None else f"{abs(preview.distance_bytes):,} bytes"
    count = _transactions(preview.gtids)
    return f"From {move.before.source.binlog} to {move.target.binlog}: {size} of binlog{count}."


def _transactions(gtids: str) -> str:
    found = GtidSet.parse(gtids)
    number = sum(last - first + 1 for held in found.intervals.values() for first, last in held)
    return f", {number:,} transactions ({gtids})" if number else f", transactions up to {gtids}" if gtids else ""


def _meaning(move: Move) -> str:
    if move.kind is MoveKind.FORWARD:
        return f"Forward: what lies between is LEFT OUT, for good. Epoch {move.after.epoch} begins."
    if move.kind is MoveKind.AS_NEW:
        return f"As new: everything behind the place comes with new pairs under epoch {move.after.epoch}, and consumers apply it again."
    return (
        f"Back: what lies between comes AGAIN with the pairs that it had, and consumers that keep the greater pair discard it. "
        f"Reading begins at {move.after.source.binlog}, where the pair is known."
    )


def _split(move: Move) -> Iterator[str]:
    split = None if move.before is None else move.before.split
    if split is not None:
        yield f"{split.items_done} changes of the transaction at {split.begin} {split.gtid} are published, the others not yet."

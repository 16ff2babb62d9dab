"""Writes sentences for operators about a position, and about the effect of a move."""

from collections.abc import Iterator

from relay.model.positions.position import SourcePosition
from relay.model.records.position_record import PositionRecord
from relay.operations.mappings.instance_mapping import MappingComparison
from relay.operations.positions.lost_changes import requested_copies
from relay.operations.positions.position import Shown
from relay.operations.positions.preview import Preview
from relay.operations.positions.repartition import RepartitionPlan
from relay.operations.positions.repositioning import Reposition, RepositionKind


def shown(position: Shown) -> str:
    """Return the position of an instance as text, one fact per line."""
    return "\n".join(_shown(position))


def foretold(instance: str, preview: Preview) -> str:
    """Return the effect of a move as text, before it is carried out, one sentence per line."""
    reposition, leader = preview.reposition, preview.leader
    lines = [
        _direction(preview),
        *_rows(preview),
        _meaning(reposition),
        *_split(reposition),
        *_copied(reposition),
    ]
    if leader is not None:
        lines.append(
            f"{leader} leads {instance}. Kafka fences its producer at the old position, and "
            "the relay continues at the new one."
        )
    return "\n".join(lines)


def moved(instance: str, reposition: Reposition) -> str:
    """Return the result of a move as text, one sentence per line."""
    what = f"Source {reposition.source} of {instance}" if reposition.source else instance
    at, epoch = reposition.target.binlog, reposition.after.epoch
    done = f"{what} continues {reposition.kind.value} at {at}, epoch {epoch}."
    return "\n".join([done, *_copied(reposition)])


def compared(instance: str, comparison: MappingComparison) -> str:
    """Return as text how the mapping set of an instance differs from the one in ZooKeeper."""
    return "\n".join(_compared(instance, comparison))


def repartitioned(instance: str, plan: RepartitionPlan) -> str:
    """Return as text what a repartitioning means for consumers."""
    return "\n".join(_repartitioned(instance, plan))


def partitioned_otherwise(plan: RepartitionPlan) -> str:
    """Return a sentence about what a repartitioning has changed."""
    if plan.table is not None:
        return (
            f"From now on, keys of {plan.table} may be hashed in one further text form for "
            f"{plan.topic}."
        )
    return f"From the next row on, rows of {plan.topic} go to {plan.after.partitions} partitions."


def found_position(instance: str, target: SourcePosition, source: str | None = None) -> str:
    """Return text about a position that was found, with the command that moves the instance there.

    `source` is the source of a group.
    """
    of = f" --source {source}" if source else ""
    lines = [
        f"position   {target.binlog}",
        f"gtid set   {target.gtid_set or 'none'}",
        f"server     {target.identity.server}",
        (
            f"go there   roma position set {instance}{of} --file {target.binlog.file} --offset "
            f"{target.binlog.offset}"
        ),
    ]
    return "\n".join(lines)


def _compared(instance: str, comparison: MappingComparison) -> Iterator[str]:
    named, found = comparison.named, comparison.found
    yield f"published under   mapping set {named.number} {named.digest}".rstrip()
    yield f"in ZooKeeper      mapping set {found.number} {found.digest}".rstrip()
    if comparison.half_published:
        yield (
            f"half published    {comparison.half_published} is published to its end under "
            f"mapping set {comparison.named.number}"
        )
    if comparison.same:
        yield (
            f"The mapping in ZooKeeper continues the one that {instance} publishes under; there is "
            f"nothing to accept."
        )
    elif not comparison.known:
        yield (
            "The documents of the former set are not available, so these are all routes of the "
            "set in ZooKeeper."
        )
    for change in comparison.changes:
        yield f"- {change.sentence}"
    if not comparison.changes:
        yield "No known table gets another route."


def _repartitioned(instance: str, plan: RepartitionPlan) -> Iterator[str]:
    yield f"topic      {plan.topic}"
    yield from _placed_by(plan) if plan.table is None else _forms(plan)
    yield (
        "Rows that are already in the topic stay in their partitions. If a key moves, its "
        "older rows are in one partition and its newer rows in another one:"
    )
    yield (
        "from now on only the order key (header `order`) shows which row is newer, and a "
        "consumer of one partition misses a part of the changes of such a key."
    )
    if plan.table is None:
        yield from _around(instance, plan)


def _forms(plan: RepartitionPlan) -> Iterator[str]:
    yield f"table      {plan.table}"
    yield f"so far     keys hashed as {' | '.join(plan.forms)}"
    yield (
        "From now on one further text form is accepted. Keys with characters outside of ASCII, "
        "or of a column with another type, may get another partition. Accepted forms stay "
        "accepted."
    )
    if plan.is_compacted:
        yield (
            "The topic is compacted: if a key moves, Kafka keeps its last row in both "
            "partitions permanently. If the row is deleted later, the former row stays, and a "
            "consumer that reads from the beginning treats it as current."
        )
        yield (
            "Another character set does not move keys of ASCII characters. If other keys may "
            "move, map the table to a new topic and copy it."
        )


def _placed_by(plan: RepartitionPlan) -> Iterator[str]:
    yield f"so far     {plan.before} partitions"
    yield f"from now   {plan.after}"
    if plan.rules_differ:
        yield "The hash rules differ, so any key may get another partition."
    yield (
        f"Of evenly spread keys, {float(plan.moved):.1%} get another partition through the "
        "number of partitions alone."
    )


def _around(instance: str, plan: RepartitionPlan) -> Iterator[str]:
    for name, other in plan.others.items():
        yield (
            f"Instance {name} assigns rows of this topic to partitions by {other}: {instance} "
            "waits (PARTITIONS_DIFFER) until that instance is changed, too."
        )
    if plan.leader is not None:
        yield (
            f"{plan.leader} leads {instance}. If its settings differ from this plan, it stops "
            "(PARTITIONS_CHANGED) until you correct them."
        )


def _sources(record: PositionRecord) -> Iterator[str]:
    for name, at in record.standing.items():
        if name:
            yield f"source     {name}"
        yield f"position   {at.source.binlog}"
        yield f"gtid set   {at.source.gtid_set or 'none'}"
        yield f"server     {at.source.identity.server}"
        if name and at.skips:
            yield f"to skip    {', '.join(at.skips)}"


def _shown(position: Shown) -> Iterator[str]:
    record = position.record
    yield f"leader     {position.leader or 'nobody'}"
    if record is None:
        yield "position   none; the instance has never committed one"
        return
    yield from _sources(record)
    yield f"order key  {record.order.execute_time}.{record.order.execute_position}"
    yield f"epoch      {record.epoch}"
    yield f"format     {record.format}"
    yield f"mapping    set {record.mapping_set} {record.mapping_digest}".rstrip()
    if record.split is not None:
        yield (
            f"in parts   the transaction at {record.split.begin} {record.split.gtid}: "
            f"{record.split.items_done} changes are published"
        )
    if record.replay is not None:
        yield f"replay     from {record.replay.publish_from} to {record.replay.until}"
    if record.following:
        return
    if record.skips:
        yield f"to skip    {', '.join(record.skips)}"
    behind = position.positions_behind
    yield (
        f"back to    {f'any transaction from {behind[0]} on' if behind else 'nowhere'}, with the "
        f"order keys that rows had"
    )


def _direction(preview: Preview) -> str:
    reposition = preview.reposition
    who = f"source {reposition.source}" if reposition.source else "the instance"
    if reposition.origin is None:
        return f"To {reposition.target.binlog}; {who} has no position."
    size = (
        "an unknown number of bytes"
        if preview.distance_bytes is None
        else f"{abs(preview.distance_bytes):,} bytes"
    )
    count = _transactions(preview)
    files = "" if preview.files is None else f" in {_counted(preview.files, 'file')}"
    from_where = f"Source {reposition.source}, from" if reposition.source else "From"
    way = f"{from_where} {reposition.origin.binlog} to {reposition.target.binlog}"
    return f"{way}: {size} of binlog{files}{count}."


def _rows(preview: Preview) -> Iterator[str]:
    between = preview.between
    if between is None:
        return
    yield between.sentence
    if between.tables and preview.reposition.kind is RepositionKind.FORWARD:
        yield (
            "Copies of these logical tables lack these changes: `roma reconcile --repair` finds "
            "and repairs the rows."
        )


def _transactions(preview: Preview) -> str:
    gtids, number = preview.gtids, preview.transactions
    if not gtids:
        return ""
    if number is None:
        return f", transactions up to {gtids}"
    return f", {_counted(number, 'transaction')} ({gtids})"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _meaning(reposition: Reposition) -> str:
    if reposition.kind is RepositionKind.FORWARD:
        return (
            f"Forward: the rows between the two positions are LEFT OUT permanently. Epoch "
            f"{reposition.after.epoch} begins.{_others(reposition)}"
        )
    if reposition.kind is RepositionKind.AS_NEW:
        what = (
            f"As new: the rows after the position get new order keys under epoch "
            f"{reposition.after.epoch}, and consumers apply them again."
        )
        return what + _others(reposition)
    return (
        f"Back: the rows between the two positions are published AGAIN with their old order "
        f"keys. Consumers that keep the greater order key discard them. "
        f"Reading begins at {reposition.after.source.binlog}, where the order key is known."
    )


def _others(reposition: Reposition) -> str:
    """Return the effect on the other sources of a group."""
    if not reposition.source:
        return ""
    if reposition.before is None:
        return (
            " Sources without a position begin at the position of [instances.start]: give each "
            "its own before a relay starts."
        )
    return " The other sources continue at their positions."


def _copied(reposition: Reposition) -> Iterator[str]:
    for number in requested_copies(reposition):
        yield (
            "No record shows which changes were published."
            if reposition.origin is None
            else f"The source does not have the changes after {reposition.origin.binlog}."
        )
        yield (
            f"All mapped tables are copied again ({number}, by snapshot = 'when_needed'). Rows "
            f"that were deleted meanwhile have no message: `roma reconcile` names them."
        )


def _split(reposition: Reposition) -> Iterator[str]:
    split = None if reposition.before is None else reposition.before.split
    if split is not None:
        yield (
            f"{split.items_done} changes of the transaction at {split.begin} {split.gtid} are "
            f"published, the others not yet."
        )

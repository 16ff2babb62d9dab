"""Invariants of every state."""

from tests.model.world import PARTITIONS, Changes, Kind, Phase, Record, World


def broken(world: World) -> str:
    """Return the invariant that this state breaks, "" for none."""
    return _never_published(world) or _lost(world) or _two_voices(world)


def _never_published(world: World) -> str:
    """Each partition shows a prefix of one server's binlog: no repeat, no step back and no gap."""
    visible = world.broker.visible
    for server in (0, 1):
        history = world.source.history(server)
        if all(_of(history, each)[: len(visible[each])] == visible[each] for each in PARTITIONS):
            return ""
    for partition in PARTITIONS:
        if len(set(visible[partition])) < len(visible[partition]):
            return f"visible twice: {visible[partition]}"
    return f"a gap, a step back, or what the source does not have: {visible}"


def _lost(world: World) -> str:
    """All rows up to the committed record are visible, and, while no transaction is ending, no
    other row.
    """
    broker = world.broker
    if broker.ending:
        return ""
    for each in PARTITIONS:
        behind = _published(world, broker.position, each)
        if broker.visible[each] != behind:
            return (
                f"the record says that {behind} are published, visible are {broker.visible[each]}"
            )
    return ""


def _two_voices(world: World) -> str:
    """A fenced relay opens no producer before ZooKeeper has confirmed its leadership again."""
    for number, relay in enumerate(world.relays):
        if (
            relay.fenced
            and relay.phase is Phase.ELECTED
            and relay.waiting is not None
            and relay.waiting.kind is Kind.INIT
        ):
            return f"relay {number} knows that it was fenced, and fences its successor"
    return ""


def _published(world: World, record: Record, partition: int) -> Changes:
    return _of(world.source.history(record.server)[: record.changes], partition)


def _of(changes: Changes, partition: int) -> Changes:
    return tuple(each for each in changes if each % 2 == partition)

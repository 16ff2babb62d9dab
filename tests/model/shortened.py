"""Merges states with the same future. Without this, the epochs of two relays that fence each other
make infinitely many states.
"""

from collections.abc import Iterator

from tests.model.world import Broker, Kind, Relay, Request, Rules, World


def shortened(world: World, rules: Rules) -> World:
    """Return the state with its epochs renumbered in order, and without requests that have no
    effect.
    """
    world = _forgotten(world, rules)
    ranks = {epoch: rank for rank, epoch in enumerate(sorted({0, *_epochs(world)}))}
    if ranks[world.broker.epoch] == world.broker.epoch:
        return world
    return world._replace(
        broker=_renumbered_broker(world.broker, ranks),
        relays=(
            _renumbered_relay(world.relays[0], ranks),
            _renumbered_relay(world.relays[1], ranks),
        ),
        wire=frozenset(_renumbered(each, ranks) for each in world.wire),
    )


def _forgotten(world: World, rules: Rules) -> World:
    """Drop requests that will be refused and whose answer no relay awaits, and epochs that no relay
    has.
    """
    broker = world.broker
    if rules.late_rows_verified:
        broker = broker._replace(seen_epoch=0)
        if rules.record_in_transaction:
            waiting = {relay.waiting for relay in world.relays}
            wire = frozenset(
                each
                for each in world.wire
                if each in waiting or each.kind is Kind.INIT or each.epoch == broker.epoch
            )
            world = world._replace(wire=wire)
    if broker.committed_epoch != broker.epoch:
        broker = broker._replace(committed_epoch=0)
    if broker.timed_out_epoch not in (world.relays[0].epoch, world.relays[1].epoch):
        broker = broker._replace(timed_out_epoch=0)
    return world._replace(broker=broker)


def _epochs(world: World) -> Iterator[int]:
    broker = world.broker
    yield from (broker.epoch, broker.committed_epoch, broker.timed_out_epoch, broker.seen_epoch)
    yield from (relay.epoch for relay in world.relays)
    yield from (each.epoch for each in world.wire)
    yield from (relay.waiting.epoch for relay in world.relays if relay.waiting is not None)


def _renumbered_broker(broker: Broker, ranks: dict[int, int]) -> Broker:
    return broker._replace(
        epoch=ranks[broker.epoch],
        committed_epoch=ranks[broker.committed_epoch],
        timed_out_epoch=ranks[broker.timed_out_epoch],
        seen_epoch=ranks[broker.seen_epoch],
    )


def _renumbered_relay(relay: Relay, ranks: dict[int, int]) -> Relay:
    waiting = None if relay.waiting is None else _renumbered(relay.waiting, ranks)
    return relay._replace(epoch=ranks[relay.epoch], waiting=waiting)


def _renumbered(request: Request, ranks: dict[int, int]) -> Request:
    return request._replace(epoch=ranks[request.epoch])

"""Steps of the broker: a request arrives, a transaction's end reaches a partition, a transaction
times out.
"""

from collections.abc import Iterator
from typing import Final, TypeAlias

from tests.model.world import (
    PARTITIONS,
    POSITION,
    Broker,
    Kind,
    Phase,
    Relay,
    Request,
    Rules,
    World,
)

Step: TypeAlias = tuple[str, World]
OK: Final = "ok"
FENCED: Final = "fenced"
NOT_YET: Final = ""
_Answer: TypeAlias = tuple[Broker, str]


def steps(world: World, rules: Rules) -> Iterator[Step]:
    """Return every step that the broker can take now."""
    for request in world.wire:
        broker, answer = _answered(world.broker, request, rules)
        label = (
            f"{request.kind} of relay {request.relay} (epoch {request.epoch}) arrives: "
            f"{answer or 'not yet'}"
        )
        if answer:
            yield label, _delivered(world, request, broker, answer)
            if request.kind is Kind.COMMIT and world.budget.lost_answers and broker != world.broker:
                spent = world.budget._replace(lost_answers=world.budget.lost_answers - 1)
                yield (
                    f"{label}, and the answer is lost",
                    world._replace(broker=broker, budget=spent),
                )
        elif broker != world.broker:
            yield label, world._replace(broker=broker)
    yield from _ends(world)
    if world.budget.timeouts and world.broker.open and not world.broker.ending:
        spent = world.budget._replace(timeouts=world.budget.timeouts - 1)
        timed_out = _ending(
            world.broker._replace(timed_out_epoch=world.broker.epoch, epoch=world.broker.epoch + 1),
            "abort",
        )
        yield (
            "the broker's timeout ends the transaction",
            world._replace(broker=timed_out, budget=spent),
        )


def _answered(broker: Broker, request: Request, rules: Rules) -> _Answer:
    """Return the broker after a request, and its answer. It does not answer while an older
    transaction is ending.
    """
    match request.kind:
        case Kind.INIT:
            return _init(broker)
        case Kind.ROW:
            return _row(broker, request, rules)
        case Kind.RECORD:
            return _record(broker, request, rules)
        case _:
            return _end(broker, request)


def _init(broker: Broker) -> _Answer:
    if broker.ending:
        return broker, NOT_YET
    newer = broker._replace(epoch=broker.epoch + 1)
    return (_ending(newer, "abort"), NOT_YET) if broker.open else (newer, OK)


def _row(broker: Broker, request: Request, rules: Rules) -> _Answer:
    if request.epoch == broker.epoch and not broker.ending:
        return broker._replace(rows=(*broker.rows, request.change), seen_epoch=request.epoch), OK
    if not rules.late_rows_verified and request.epoch >= broker.seen_epoch and not broker.open:
        return broker._replace(late=(*broker.late, request.change)), OK
    return broker, FENCED


def _record(broker: Broker, request: Request, rules: Rules) -> _Answer:
    if not rules.record_in_transaction:
        return broker._replace(position=request.record), OK
    if request.epoch == broker.epoch and not broker.ending:
        return broker._replace(record=request.record, seen_epoch=request.epoch), OK
    return broker, FENCED


def _end(broker: Broker, request: Request) -> _Answer:
    if request.epoch != broker.epoch:
        return broker, FENCED
    if (
        request.kind is Kind.COMMIT
        and broker.committed_epoch == request.epoch
        and (broker.ending or not broker.open)
    ):
        return broker, OK  # the request is repeated
    if broker.ending:
        return broker, NOT_YET
    if request.kind is Kind.ABORT:
        return (_ending(broker, "abort") if broker.open else broker), OK
    return _ending(broker._replace(committed_epoch=request.epoch), "commit"), OK


def _ending(broker: Broker, end: str) -> Broker:
    """The coordinator has decided. It writes a commit to one partition after the other, and an
    abort, which shows no row, to all at once.
    """
    return broker._replace(
        ending=end, unmarked=(*PARTITIONS, POSITION) if end == "commit" else (POSITION,)
    )


def _ends(world: World) -> Iterator[Step]:
    for partition in world.broker.unmarked:
        yield (
            f"partition {partition} learns of the {world.broker.ending}",
            world._replace(broker=_marked(world.broker, partition)),
        )


def _marked(broker: Broker, partition: int) -> Broker:
    unmarked = tuple(each for each in broker.unmarked if each != partition)
    if broker.ending == "commit":
        broker = _shown(broker, partition)._replace(
            late=tuple(each for each in broker.late if each % 2 != partition)
        )
    else:
        broker = broker._replace(late=())
    broker = broker._replace(unmarked=unmarked)
    return (
        broker
        if unmarked
        else broker._replace(rows=(), record=None, ending="", seen_epoch=broker.epoch)
    )


def _shown(broker: Broker, partition: int) -> Broker:
    if partition == POSITION:
        return broker if broker.record is None else broker._replace(position=broker.record)
    shown = tuple(each for each in (*broker.late, *broker.rows) if each % 2 == partition)
    visible = list(broker.visible)
    visible[partition] += shown
    return broker._replace(visible=tuple(visible))


def _delivered(world: World, request: Request, broker: Broker, answer: str) -> World:
    """Remove the request; its relay gets the answer if it still waits for it."""
    world = world._replace(broker=broker, wire=world.wire - {request})
    relay = world.relays[request.relay]
    if relay.waiting != request:
        return world
    return world.with_relay(request.relay, _told(relay, answer, broker))


def _told(relay: Relay, answer: str, broker: Broker) -> Relay:
    relay = relay._replace(waiting=None)
    if answer == FENCED:
        return relay._replace(fenced=True)
    if relay.phase is Phase.ELECTED:
        return relay._replace(phase=Phase.OPENED, epoch=broker.epoch, fenced=False)
    return relay

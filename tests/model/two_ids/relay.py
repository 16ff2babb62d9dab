"""A relay's steps: fence both ids, read the record, publish by turns."""

from collections.abc import Iterator

from tests.model.two_ids.broker import FENCED, Step
from tests.model.two_ids.world import (
    CHANGES,
    POSITION,
    Batch,
    Record,
    Relay,
    Request,
    Rules,
    World,
    last_record,
)


def steps(world: World, number: int, rules: Rules) -> Iterator[Step]:
    """What relay `number` may do now; it may as well sleep."""
    relay = world.relays[number]
    if relay.waiting is not None:
        return
    match relay.phase:
        case "starts":
            yield "initialises id 0", _asks(world, number, relay, Request(number, "init", 0))
        case "initialises":
            yield "initialises id 1", _asks(world, number, relay, Request(number, "init", 1))
        case "reads" if all(each.committed for each in world.logs[POSITION]):
            yield "reads the record", world.with_relay(number, _read(relay, world, rules))
        case "runs":
            yield from _running(world, number, relay, rules)


def told(relay: Relay, request: Request, answer: str, epoch: int, rules: Rules) -> Relay:
    """Return the relay after the answer to one of its requests."""
    if relay.phase == "ended":
        return relay
    if relay.waiting == request:
        return _initialised(relay, request.id, epoch, rules)
    mine = next(
        (each for each in relay.batches if request in {each.ending, *each.unacknowledged}), None
    )
    if mine is None:
        return relay
    if answer == FENCED:
        if rules.failure_stops:
            return relay._replace(phase="ended", batches=())
        return _without(relay, mine)
    if request == mine.ending:
        return _without(relay, mine)._replace(proved=True)
    acknowledged = mine._replace(unacknowledged=mine.unacknowledged - {request})
    return _with_batch(relay, mine, acknowledged)


def _initialised(relay: Relay, number: int, epoch: int, rules: Rules) -> Relay:
    epochs = (epoch, relay.epochs[1]) if number == 0 else (relay.epochs[0], epoch)
    relay = relay._replace(waiting=None, epochs=epochs)
    if number == 0 and relay.uses == 2 and rules.both_before_read:
        return relay._replace(phase="initialises")
    return relay._replace(phase="runs" if relay.read else "reads")


def _read(relay: Relay, world: World, rules: Rules) -> Relay:
    record = last_record(world)
    relay = relay._replace(taken=record.changes, turn=0 if rules.first_id_proves else 1)
    unfenced = relay.epochs[1] == 0
    if unfenced and (relay.uses == 2 or (record.second and rules.record_names_second)):
        return relay._replace(phase="initialises", read=relay.uses == 2 or not rules.reads_again)
    return relay._replace(phase="runs", read=True)


def _running(world: World, number: int, relay: Relay, rules: Rules) -> Iterator[Step]:
    if relay.taken < CHANGES and (batch := _open_batch(relay, rules)) is not None:
        change = relay.taken + 1
        row = Request(number, "row", batch.id, relay.epochs[batch.id], change)
        sent = batch._replace(unacknowledged=batch.unacknowledged | {row}, last=change)
        yield f"sends {change}", _sends(world, number, _with_batch(relay, batch, sent, change), row)
    for at, batch in enumerate(relay.batches):
        epoch = relay.epochs[batch.id]
        if not batch.closed:
            record = Request(
                number, "record", batch.id, epoch, record=Record(batch.last, relay.uses == 2)
            )
            closed = batch._replace(unacknowledged=batch.unacknowledged | {record}, closed=True)
            turned = relay._replace(turn=1 - relay.turn) if _overlaps(relay, rules) else relay
            yield (
                "sends the record",
                _sends(world, number, _with_batch(turned, batch, closed), record),
            )
        elif (
            not batch.unacknowledged
            and batch.ending is None
            and (at == 0 or not rules.commits_in_order)
        ):
            end = Request(number, "end", batch.id, epoch)
            ending = _with_batch(relay, batch, batch._replace(ending=end))
            yield f"asks for the commit of id {batch.id}", _sends(world, number, ending, end)


def _overlaps(relay: Relay, rules: Rules) -> bool:
    return relay.uses == 2 and (relay.proved or not rules.first_id_proves)


def _open_batch(relay: Relay, rules: Rules) -> Batch | None:
    """Return the batch that takes the next row, None while none may take it."""
    if not relay.batches:
        return Batch(relay.turn)
    last = relay.batches[-1]
    if not last.closed:
        return None  # one row in each batch suffices
    if not _overlaps(relay, rules) or len(relay.batches) == 2:
        return None
    if last.unacknowledged and rules.acknowledged_first:
        return None
    return Batch(1 - last.id)


def _with_batch(relay: Relay, before: Batch, after: Batch, taken: int = 0) -> Relay:
    batches = tuple(after if each == before else each for each in relay.batches)
    if before not in relay.batches:
        batches = (*relay.batches, after)
    return relay._replace(batches=batches, taken=taken or relay.taken)


def _without(relay: Relay, batch: Batch) -> Relay:
    return relay._replace(batches=tuple(each for each in relay.batches if each != batch))


def _asks(world: World, number: int, relay: Relay, request: Request) -> World:
    return _sends(world, number, relay._replace(waiting=request), request)


def _sends(world: World, number: int, relay: Relay, request: Request) -> World:
    return world.with_relay(number, relay)._replace(wire=world.wire | {request})

"""Steps of a relay: join, be elected, open a producer, read the position, publish, and handle each
fault.
"""

from collections.abc import Iterator
from typing import Final

from tests.model.broker import Step
from tests.model.world import Kind, Phase, Record, Relay, Request, Rules, World

_BATCH_CHANGES: Final = 2
_LEADING: Final = frozenset(
    {Phase.ELECTED, Phase.OPENED, Phase.RUNNING, Phase.RECORDED, Phase.COMMITTING, Phase.ABORTING}
)


def steps(world: World, number: int, rules: Rules) -> Iterator[Step]:
    """Return every possible next step of relay `number`."""
    relay = world.relays[number]
    yield from (
        (f"relay {number} {label}", after) for label, after in _misfortunes(world, number, relay)
    )
    yield from (
        (f"relay {number} {label}", after) for label, after in _work(world, number, relay, rules)
    )


def _misfortunes(world: World, number: int, relay: Relay) -> Iterator[Step]:
    budget = world.budget
    if relay.phase is Phase.DEAD:
        if number in world.candidates:
            yield "is dead, and its session ends", world.without_candidate(number)
        else:
            yield "is started again", world.with_relay(number, Relay())
        return
    if budget.crashes and relay.phase in _LEADING:
        dead = world.with_relay(number, Relay(Phase.DEAD))
        yield "crashes", dead._replace(budget=budget._replace(crashes=budget.crashes - 1))
    if budget.expiries and number in world.candidates:
        cut_off = world.without_candidate(number)
        yield (
            "loses its session without knowing",
            cut_off._replace(budget=budget._replace(expiries=budget.expiries - 1)),
        )
    if relay.phase in _LEADING and number not in world.candidates:
        yield "learns that its session is lost", world.with_relay(number, Relay())


def _work(world: World, number: int, relay: Relay, rules: Rules) -> Iterator[Step]:
    if relay.waiting is not None:
        return
    if (
        relay.fenced
        and relay.phase is not Phase.ELECTED
        and (rules.fence_counts_in_abort or relay.phase is not Phase.ABORTING)
    ):
        yield from _fenced(world, number, relay, rules)
        return
    match relay.phase:
        case Phase.STANDBY:
            yield from _standby(world, number, relay, rules)
        case Phase.ELECTED:
            yield "asks for a producer", _asks(world, number, relay, Request(number, Kind.INIT))
        case Phase.OPENED:
            yield from _opened(world, number, relay, rules)
        case Phase.RUNNING:
            yield from _running(world, number, relay)
        case Phase.RECORDED:
            committing = relay._replace(phase=Phase.COMMITTING)
            yield (
                "asks for the commit",
                _asks(world, number, committing, Request(number, Kind.COMMIT, relay.epoch)),
            )
        case Phase.COMMITTING:
            yield (
                "goes on behind its commit",
                world.with_relay(number, relay._replace(phase=Phase.RUNNING, sent=0)),
            )
        case Phase.ABORTING:
            yield (
                "throws its producer away",
                world.with_relay(number, Relay(Phase.ELECTED, fenced=relay.fenced)),
            )


def _fenced(world: World, number: int, relay: Relay, rules: Rules) -> Iterator[Step]:
    if not rules.fenced_asks_election:
        yield (
            "opens another producer at once",
            world.with_relay(number, Relay(Phase.ELECTED, fenced=True)),
        )
    elif world.leads(number) and relay.epoch == world.broker.timed_out_epoch:
        unclear = relay.phase is Phase.COMMITTING and not rules.record_after_unclear_commit
        elected = (
            Relay(Phase.ELECTED, server=relay.server, taken=relay.taken, trusts_memory=True)
            if unclear
            else Relay(Phase.ELECTED)
        )
        yield (
            "still leads, and the broker's timeout explains the fence",
            world.with_relay(number, elected),
        )
    else:
        yield (
            "takes its candidacy back",
            world.without_candidate(number).with_relay(number, Relay()),
        )


def _standby(world: World, number: int, relay: Relay, rules: Rules) -> Iterator[Step]:
    if number not in world.candidates:
        yield "joins the election", world._replace(candidates=(*world.candidates, number))
    elif world.leads(number):
        early = None if rules.producer_before_position else world.broker.position
        yield (
            "finds that it leads",
            world.with_relay(number, relay._replace(phase=Phase.ELECTED, early=early)),
        )


def _opened(world: World, number: int, relay: Relay, rules: Rules) -> Iterator[Step]:
    if world.broker.record is not None:
        return  # a reader does not see records after an open transaction
    record = relay.early or world.broker.position
    source = world.source
    server = record.server if source.alive else 1
    if server != record.server:
        published, there = source.history(record.server)[: record.changes], source.history(server)
        if published != there[: record.changes]:
            if rules.standby_proved:
                return  # it waits for the standby, or stops and names the missing transactions
            record = record._replace(changes=len(there))
    taken = relay.taken if relay.trusts_memory else record.changes
    running = relay._replace(
        phase=Phase.RUNNING, server=server, taken=taken, early=None, trusts_memory=False
    )
    yield f"goes on behind change {taken} of server {server}", world.with_relay(number, running)


def _running(world: World, number: int, relay: Relay) -> Iterator[Step]:
    history = world.source.history(relay.server)
    silent = relay.server == 0 and not world.source.alive
    if relay.taken < len(history) and relay.sent < _BATCH_CHANGES and not silent:
        change = history[relay.taken]
        sending = relay._replace(taken=relay.taken + 1, sent=relay.sent + 1)
        yield (
            f"sends change {change}",
            _asks(world, number, sending, Request(number, Kind.ROW, relay.epoch, change)),
        )
    if relay.sent:
        recorded = relay._replace(phase=Phase.RECORDED)
        request = Request(
            number, Kind.RECORD, relay.epoch, record=Record(relay.server, relay.taken)
        )
        yield "sends the position", _asks(world, number, recorded, request)
    if silent:
        yield "finds its source dead", _given_up(world, number, relay)
    elif world.budget.source_errors:
        spent = world.budget._replace(source_errors=world.budget.source_errors - 1)
        yield "loses its source", _given_up(world, number, relay)._replace(budget=spent)


def _given_up(world: World, number: int, relay: Relay) -> World:
    """Abort the open transaction; the next producer begins from the record."""
    if not relay.sent:
        return world.with_relay(number, Relay(Phase.ELECTED))
    return _asks(
        world,
        number,
        relay._replace(phase=Phase.ABORTING),
        Request(number, Kind.ABORT, relay.epoch),
    )


def _asks(world: World, number: int, relay: Relay, request: Request) -> World:
    world = world.with_relay(number, relay._replace(waiting=request))
    return world._replace(wire=world.wire | {request})

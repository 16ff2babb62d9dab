"""Explores every order of events of the delivery: the next steps of source, broker and relays."""

from collections.abc import Iterator

from tests.model import broker, relay
from tests.model.broker import Step
from tests.model.exploring import Found, explore
from tests.model.promises import broken
from tests.model.shortened import shortened
from tests.model.world import Rules, World


def search(start: World, rules: Rules) -> Found:
    """Explore every order of events from `start`; end at the first broken invariant."""

    def following(world: World) -> Iterator[Step]:
        return ((label, shortened(after, rules)) for label, after in steps(world, rules))

    return explore(start, following, broken, lambda world: sum(map(len, world.broker.visible)))


def steps(world: World, rules: Rules) -> Iterator[Step]:
    """Return every possible next step."""
    yield from _source(world)
    yield from broker.steps(world, rules)
    for number in range(len(world.relays)):
        yield from relay.steps(world, number, rules)


def _source(world: World) -> Iterator[Step]:
    source, budget = world.source, world.budget
    if source.alive and budget.master_deaths:
        spent = budget._replace(master_deaths=budget.master_deaths - 1)
        yield "the master dies", world._replace(source=source._replace(alive=False), budget=spent)
    if source.executed < source.written and not source.own:
        executed = source._replace(executed=source.executed + 1)
        yield f"the standby executes change {executed.executed}", world._replace(source=executed)
    if not source.alive and not source.own:
        yield (
            "the standby is the master now, and takes a change of its own",
            world._replace(source=source._replace(own=1)),
        )

"""Every moment that can be reached, nearest first: the first broken promise comes with a shortest way to it."""

from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple

from tests.model import broker, relay
from tests.model.broker import Step
from tests.model.promises import broken
from tests.model.shortened import shortened
from tests.model.world import Rules, World

_MOST_MOMENTS: Final = 3_000_000
"""A model that grows beyond is wrong: every misfortune has its budget."""


class Found(NamedTuple):
    """The result: how many moments there are, whether all changes can become visible, and the way to a broken promise."""

    moments: int
    furthest: int
    promise: str = ""
    way: tuple[str, ...] = ()


def search(start: World, rules: Rules) -> Found:
    """Try every order of events from `start`; ends at the first broken promise."""
    came_from: dict[World, tuple[World, str] | None] = {start: None}
    waiting, furthest = deque([start]), 0
    while waiting:
        world = waiting.popleft()
        furthest = max(furthest, sum(map(len, world.broker.visible)))
        for label, raw in steps(world, rules):
            after = shortened(raw, rules)
            if after in came_from:
                continue
            came_from[after] = (world, label)
            if promise := broken(after):
                return Found(len(came_from), furthest, promise, _way(came_from, after))
            waiting.append(after)
        if len(came_from) > _MOST_MOMENTS:
            raise OverflowError(f"more than {_MOST_MOMENTS} moments")
    return Found(len(came_from), furthest)


def steps(world: World, rules: Rules) -> Iterator[Step]:
    """Everything that may happen next."""
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
        yield "the standby is the master now, and takes a change of its own", world._replace(source=source._replace(own=1))


def _way(came_from: dict[World, tuple[World, str] | None], last: World) -> tuple[str, ...]:
    labels: list[str] = []
    step = came_from[last]
    while step is not None:
        labels.append(step[1])
        step = came_from[step[0]]
    return tuple(reversed(labels))

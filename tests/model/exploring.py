"""Breadth-first search of all states: the first broken invariant is found with a shortest path to
it.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Final, NamedTuple, TypeVar

World = TypeVar("World", bound=Hashable)

_MOST_MOMENTS: Final = 3_000_000
"""Largest number of states. A model with more has an error, because the budget limits every fault.
"""


class Found(NamedTuple):
    """The number of states, how many rows can become visible, and a shortest path to a broken
    invariant.
    """

    moments: int
    furthest: int
    promise: str = ""
    way: tuple[str, ...] = ()


def explore(
    start: World,
    steps: Callable[[World], Iterable[tuple[str, World]]],
    broken: Callable[[World], str],
    visible: Callable[[World], int],
) -> Found:
    """Explore every order of events from `start`. End at the first state for which `broken` returns
    a text.
    """
    came_from: dict[World, tuple[World, str] | None] = {start: None}
    waiting, furthest = deque([start]), 0
    while waiting:
        world = waiting.popleft()
        furthest = max(furthest, visible(world))
        for label, after in steps(world):
            if after in came_from:
                continue
            came_from[after] = world, label
            if promise := broken(after):
                return Found(len(came_from), furthest, promise, _way(came_from, after))
            waiting.append(after)
        if len(came_from) > _MOST_MOMENTS:
            raise OverflowError(f"more than {_MOST_MOMENTS} moments")
    return Found(len(came_from), furthest)


def _way(came_from: dict[World, tuple[World, str] | None], to: World) -> tuple[str, ...]:
    labels = list[str]()
    while (step := came_from[to]) is not None:
        to, label = step
        labels.append(label)
    return tuple(reversed(labels))

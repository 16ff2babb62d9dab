"""Every moment that can be reached, nearest first: the first broken promise comes with a shortest
way to it.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Final, NamedTuple, TypeVar

World = TypeVar("World", bound=Hashable)

_MOST_MOMENTS: Final = 3_000_000
"""A model that grows beyond is wrong: every misfortune has its budget."""


class Found(NamedTuple):
    """How many moments there are, how many rows can become visible, and a shortest way to a broken
    promise.
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
    """Try every order of events from `start`.

    Ends at the first moment of which `broken` says something.
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

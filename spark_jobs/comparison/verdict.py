"""Decides whether a difference is only lag.

A difference is no lag if it remains after the copy has everything that the source had committed
when the difference was seen. A round has four steps:

1. The rows are read.
2. The source's position is read, and the job waits until the instances have published up to it. All
   changes of these rows are then in the topics.
3. The topics are searched for pending changes of these rows: those that the copy has not applied
   yet.
4. The rows are read again. A row that is unchanged on both sides, and has no pending change,
   differs. All other rows are checked in another round.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, TypeAlias

from spark_jobs.comparison.row_lookup import Seen, TargetRow

_PAUSE_S: Final = 1.0

Look: TypeAlias = Callable[[Sequence[TargetRow]], Mapping[str, Seen]]
CaughtUp: TypeAlias = Callable[[float], bool]
"""Waits up to the given seconds until all that the sources have committed is published.

Returns whether it is.
"""
Waiting: TypeAlias = Callable[[Sequence[str]], Mapping[str, str]]
"""Returns key → greatest order among the changes that the copy has not applied yet."""


@dataclass(frozen=True, slots=True)
class DecidedRows:
    """The result of a comparison of single rows.

    different  rows that differ although no change of them is pending
    undecided  rows that could not be decided in time: changes are pending, or come constantly
    """

    different: Sequence[Seen] = ()
    undecided: Sequence[Seen] = ()


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The result of one round, by message key.

    different  rows that differ although no change of them is pending
    open       rows that must be checked in another round
    """

    different: Mapping[str, Seen] = field(default_factory=dict)
    open: Mapping[str, Seen] = field(default_factory=dict)


def verdicts(
    before: Mapping[str, Seen],
    now: Mapping[str, Seen],
    waiting: Mapping[str, str],
    *,
    published: bool,
) -> Verdicts:
    """Return which rows really differ, and which must be checked in another round.

    before     message key → the row as it differed in step 1 of the round
    now        message key → the row as it differs in step 4; rows that only `before` has are equal
               now
    waiting    message key → greatest order key among the changes that the copy has not applied yet
    published  True if the instances have published everything that the sources had committed
    """
    different = {
        key: seen
        for key, seen in now.items()
        if published and _same(before.get(key), seen) and not _awaits(seen, waiting)
    }
    return Verdicts(different, {key: seen for key, seen in now.items() if key not in different})


def compare_until_decided(
    places: Sequence[TargetRow],
    compare_again: Look,
    caught_up: CaughtUp,
    waiting: Waiting,
    patience_s: float,
    pause: Callable[[float], object],
) -> DecidedRows:
    """Compare rows until each is known to be equal or different, or until the time has passed.

    places         the rows
    compare_again  compares the given rows, and returns those that differ
    caught_up      waits until the instances have published what the sources had committed; returns
                   False if that takes longer than the given seconds
    waiting        returns the greatest order key of the pending changes for each of the given keys
    patience_s     seconds after which no further round begins
    pause          sleeps the given seconds between two rounds
    """
    by_key = {place.key: place for place in places}
    ends = monotonic() + patience_s
    seen, different = compare_again(places), dict[str, Seen]()
    while seen:
        published = caught_up(max(0.0, ends - monotonic()))
        on_their_way = waiting(list(seen))
        judged = verdicts(
            seen, compare_again([by_key[key] for key in seen]), on_their_way, published=published
        )
        different |= judged.different
        seen = judged.open
        if monotonic() >= ends:
            break
        if seen:
            pause(_PAUSE_S)
    return DecidedRows(list(different.values()), list(seen.values()))


def _same(before: Seen | None, now: Seen) -> bool:
    return before is not None and (before.source, before.order) == (now.source, now.order)


def _awaits(seen: Seen, waiting: Mapping[str, str]) -> bool:
    order = waiting.get(seen.key)
    return order is not None and (seen.order is None or order > seen.order)

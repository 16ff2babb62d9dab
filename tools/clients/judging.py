"""Compares the lines that services wrote with the history of the source, without side effects."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

Row = tuple[int, int]
"""The id of a row, and how often the row was changed."""


class Work(NamedTuple):
    """One change or transaction that a service processed.

    `began` is the `time.monotonic` before it took effect.
    """

    pid: int
    began: float
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The numbers of broken promises and of repeated changes.

    processed     changes that services processed, repeated ones included
    lost          changes of the source that no service processed
    foreign       processed changes that the source does not have
    out_of_order  changes whose first processing came after a newer change of their row
    torn          transactions that were processed without all their rows
    repeated      changes that were processed again
    turns         how often another client became active. A single change of one client between
                  changes of another is not counted: a client that was paused ends its change late
    """

    processed: int
    lost: int
    foreign: int
    out_of_order: int
    torn: int
    repeated: int
    turns: int

    @property
    def clean(self) -> bool:
        """Return whether each promise of an at-least-once client holds."""
        return not (self.lost or self.foreign or self.out_of_order or self.torn)


def works(text: str) -> list[Work]:
    """Return the units of work in `text`. A last line that a kill truncated is ignored."""
    return [Work(*json.loads(each)) for each in text.split("\n")[:-1]]


def history(held: Mapping[int, int]) -> set[Row]:
    """Return all changes of a table. `held`: id → the newest number of a row's changes, which are
    numbered from 0.
    """
    return {(key, n) for key, most in held.items() for n in range(most + 1)}


def judged(found: Sequence[Work], wanted: Collection[Row], sizes: Collection[int]) -> Verdict:
    """Return the verdict on the work of all services.

    found   the units of work, in the order in which they took effect
    wanted  the changes of the source
    sizes   the numbers of rows that a unit of work may have
    """
    rows = [(key, n) for work in found for key, n in work.rows]
    known = set(rows)
    return Verdict(
        processed=len(rows),
        lost=len(set(wanted) - known),
        foreign=len(known - set(wanted)),
        out_of_order=_out_of_order(rows),
        torn=sum(len(each.rows) not in sizes for each in found),
        repeated=len(rows) - len(known),
        turns=_turns(found),
    )


def _out_of_order(rows: Iterable[Row]) -> int:
    newest: dict[int, int] = {}
    wrong = 0
    for key, n in rows:
        known = newest.get(key, -1)
        wrong += n > known + 1
        newest[key] = max(known, n)
    return wrong


def _turns(found: Sequence[Work]) -> int:
    runs = [(pid, len(list(run))) for pid, run in groupby(each.pid for each in found)]
    longer = [pid for pid, length in runs if length > 1]
    return max(0, sum(1 for _ in groupby(longer)) - 1)

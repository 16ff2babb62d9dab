"""Chooses the next ranges of a logical table to copy in parallel, from all shards with uncopied
rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from relay.model.source_rows.key_range import Boundary
from spark_jobs.first_copy.notes import TableNote
from spark_jobs.origin import KeyRange, Shard, ranges_of

Ahead: TypeAlias = Callable[[Shard, Boundary | None], Boundary | None]
"""Returns the end of the range that begins after a boundary; None if the table ends before."""


@dataclass(frozen=True, slots=True)
class ShardRange:
    """A range of keys of one shard."""

    shard: Shard
    range: KeyRange


def next_round(
    shards: Sequence[Shard], note: TableNote, parallel: int, ahead: Ahead
) -> Sequence[ShardRange]:
    """Return up to `parallel` ranges of the shards that are not copied yet; empty if all are
    copied.

    note   the progress
    ahead  finds the end of a range
    """
    found: list[ShardRange] = []
    for shard in shards:
        noted = note.shard(shard.name)
        after, finished = (noted.boundaries[-1] if noted.boundaries else None), noted.finished
        while not finished and len(found) < parallel:
            until = ahead(shard, after)
            found.append(ShardRange(shard, KeyRange(after, until)))
            after, finished = until, until is None
    return found


def copied_ranges(shards: Sequence[Shard], note: TableNote) -> Sequence[ShardRange]:
    """Return the ranges into which a copy divided every shard; `note` is its progress."""
    return [
        ShardRange(shard, part)
        for shard in shards
        for part in ranges_of(note.shard(shard.name).boundaries)
    ]

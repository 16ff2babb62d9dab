"""The first copy of one logical table.

It has three steps. First the caller reads the order keys of the table's instances, before the first
SELECT. Then ranges are read, written with these order keys, and recorded as progress when they are
in the copy. Last the keys of the source are read once more. Rows of the copy without such a key are
removed, unless their order shows that they were published after the run began.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame

from relay.model.change import Operation
from relay.model.source_rows.key_range import Boundary
from spark_jobs.apply.table_writer import TableWriter, deletes, upserts
from spark_jobs.config.copy import BootstrapSettings
from spark_jobs.errors import TableChanged, TableSwapped
from spark_jobs.first_copy.alterations import Alterations, unswapped
from spark_jobs.first_copy.notes import Notes, TableNote, end_line, round_line
from spark_jobs.first_copy.range_scheduler import ShardRange, copied_ranges, next_round
from spark_jobs.first_copy.rate_limit import Pace, round_rows
from spark_jobs.first_copy.stale_keys import REMOVE, UNDECIDED, unmet
from spark_jobs.kafka.relay_positions import Published
from spark_jobs.origin import (
    Shard,
    SourceDatabase,
    message_rows,
    next_boundary,
    published_keys,
    source_borders,
)
from spark_jobs.origin.shards import LogicalTable, refuse_unseen
from spark_jobs.sinks import Sink
from spark_jobs.spark_util.cache import cached
from spark_jobs.transforms import DELETED, KEY, ORDER

_LOOKS: Final = 3


@dataclass(frozen=True, slots=True)
class CopyFigures:
    """The counts of one table: rows read, keys removed, and whether the copy is finished."""

    rows: int
    removed: int
    ended: bool


@dataclass(frozen=True, slots=True)
class Unmet:
    """The result of removing keys of the copy that the source no longer has.

    `removed` is the number of removed keys. `undecided` is the number of keys about which only
    newer order keys can decide; `pairs` are these order keys.
    """

    removed: int
    undecided: int
    pairs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FirstCopy:
    """The shared parameters for copying all tables.

    writer     writes rows to the copies
    notes      the stored progress of earlier runs
    positions  reads the positions of instances
    check      raises an error if other servers answer than at the begin of the run
    stopping   waits the given seconds and returns whether the job was asked to stop
    altered    returns when the table was last altered at its sources
    progress   called after each round, with the table, its progress and its rate
    """

    databases: Mapping[str, SourceDatabase]
    sink: Sink
    writer: TableWriter
    notes: Notes
    settings: BootstrapSettings
    positions: Callable[[LogicalTable], Mapping[str, Published]]
    check: Callable[[LogicalTable], None]
    altered: Callable[[LogicalTable], Alterations]
    stopping: Callable[[float], bool]
    progress: Callable[[LogicalTable, TableNote, Pace], None]

    def copy(self, table: LogicalTable, note: TableNote) -> CopyFigures:
        """Copy the ranges that `note` does not contain, then remove deleted rows. Return the
        counts.

        If the job is asked to stop, the copy stops between two rounds.
        """
        pace = Pace(self.settings.rows_per_second)
        while (found := self._undisturbed_round(table, note)) is not None:
            parts, rows = found
            ends = [(part.shard.name, part.range.until) for part in parts]
            note = self.notes.add(table.name, note, round_line(note, ends, rows))
            pause_s = pace.pause_s(rows)
            self.progress(table, note, pace)
            if self.stopping(pause_s):
                return CopyFigures(note.rows, 0, ended=False)
        # If deletes are not published, the copy keeps rows that the source has deleted.
        removed, ended = (
            (0, True) if table.leaves_out(Operation.DELETE) else self._remove_unmet(table, note)
        )
        if ended:
            note = self.notes.add(table.name, note, end_line(note, removed))
        return CopyFigures(note.rows, removed, ended)

    def _undisturbed_round(
        self, table: LogicalTable, note: TableNote
    ) -> tuple[Sequence[ShardRange], int] | None:
        """Copy the next round, and repeat it while an ALTER TABLE runs between its queries.

        After such a statement the definition may equal the former one, but rows were read under
        other names. Returns the ranges and their number of rows; None: every range is noted. Raises
        SourceNotTheOne and TableChanged.
        """
        for _ in range(_LOOKS):
            before = self.altered(table)
            parts = next_round(table.shards, note, self.settings.parallel, self._ahead)
            if not parts:
                return None
            try:
                with source_borders(*(each.settings for each in self.databases.values())):
                    rows = self._copy_round(table, note, parts, before)
            except TableSwapped:
                continue
            # A replica that took the place of the server may lag behind the order key. Then the
            # round is read again.
            self.check(table)
            self.writer.check_names(table, note.pairs)
            if self.altered(table) == before:
                return parts, rows
        raise _altered_meanwhile(table)

    def _ahead(self, shard: Shard, after: Boundary | None) -> Boundary | None:
        if shard.rules is not None and shard.rules.hides_key:
            return None  # the note of a range would contain keys, which must stay hidden
        settings = self.settings
        rows = round_rows(settings.range_rows, settings.parallel, settings.rows_per_second)
        found = self.databases[shard.instance].rows(next_boundary(shard, after, rows))
        return tuple(found[0]) if found else None

    def _copy_round(
        self,
        table: LogicalTable,
        note: TableNote,
        parts: Sequence[ShardRange],
        before: Alterations,
    ) -> int:
        rows = [
            upserts(self._rows(part, before), note.pairs[part.shard.instance], part.shard)
            for part in parts
        ]
        return self.writer.write(table, reduce(DataFrame.unionByName, rows))

    def _rows(self, part: ShardRange, before: Alterations) -> DataFrame:
        return message_rows(self.databases[part.shard.instance], part.shard, _where(part, before))

    def _remove_unmet(self, table: LogicalTable, note: TableNote) -> tuple[int, bool]:
        """Check again under newer order keys while some key could belong to an instance that
        published meanwhile.

        False if the job was asked to end first.
        """
        pairs, removed = dict(note.pairs), 0
        for _ in range(_LOOKS):
            found = self._unmet(table, note, pairs)
            removed += found.removed
            if not found.undecided:
                break
            if self.stopping(self.settings.settle_seconds):
                return removed, False
            pairs = dict(found.pairs)
        return removed, True

    def _unmet(self, table: LogicalTable, note: TableNote, pairs: Mapping[str, str]) -> "Unmet":
        copy = self.sink.read(table.name)
        if copy is None:
            return Unmet(0, 0, pairs)
        before = self.altered(table)
        with cached(copy.select(KEY, ORDER, DELETED)) as shown:
            shown.count()  # the rows of the copy are determined before the records are read
            after = {instance: each.order for instance, each in self.positions(table).items()}
            met = reduce(
                DataFrame.unionByName,
                [self._keys(part, before) for part in copied_ranges(table.shards, note)],
            )
            with cached(unmet(shown, met, pairs, after)) as gone:
                undecided = gone.where(sf.col("verdict") == UNDECIDED).count()
                self.check(table)
                if self.altered(table) != before:
                    raise _altered_meanwhile(table)
                doomed = gone.where(sf.col("verdict") == REMOVE)
                refuse_unseen(table, doomed.count() if table.unseen else 0)
                return Unmet(self.writer.write(table, deletes(doomed, table)), undecided, after)

    def _keys(self, part: ShardRange, before: Alterations) -> DataFrame:
        return published_keys(self.databases[part.shard.instance], part.shard, _where(part, before))


def _where(part: ShardRange, before: Alterations) -> str:
    return f"({part.range.where(part.shard.key)}) AND {unswapped(part.shard, before)}"


def _altered_meanwhile(table: LogicalTable) -> TableChanged:
    return TableChanged(f"{table.name}: it was altered each time while its rows were read.")

"""Begins the copy of each table. Its rows get new order keys, or those of the interrupted run that
it continues.

Tables that are finished are not copied again.
"""

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, TypeAlias

from spark_jobs.apply.table_writer import TableWriter
from spark_jobs.first_copy.notes import Notes, TableNote, begin_line
from spark_jobs.first_copy.shape import definition_of, shape_of
from spark_jobs.kafka.relay_positions import Published
from spark_jobs.origin.shards import LogicalTable
from spark_jobs.spark_util.report import print_line

_FINISHED: Final = "is finished and not copied again; --anew copies it again"
FreshPositions: TypeAlias = Callable[[Collection[str]], Mapping[str, Published] | None]
"""Returns instance → position that covers all schema changes so far, for the given instances.

None: the job was asked to stop.
"""


def begin(
    tables: Sequence[LogicalTable],
    notes: Notes,
    writer: TableWriter,
    place: str,
    published: Mapping[str, Published],
    fresh_positions: FreshPositions,
    *,
    anew: bool,
) -> Mapping[str, TableNote] | None:
    """Return table → the progress from which its copy begins or continues; None if the job was
    asked to stop before that.

    An interrupted run is continued if it has recorded rows, and if the table's key, columns,
    shards, rules and copy are unchanged since its begin. A finished table is copied again only if
    `anew` is True, or if its key, shards, rules or copy have changed.

    notes            the notes of earlier runs
    writer           the writer of the copies
    place            identifies the copies
    published        instance → its present position
    fresh_positions  waits for positions that cover all schema changes
    anew             whether tables are copied again that are finished
    """
    noted = {table.name: notes.read(table.name) for table in tables}
    begun: dict[str, TableNote] = {}
    fresh: list[LogicalTable] = []
    for table in tables:
        note = noted[table.name]
        if note is None or anew or not (note.ended or note.rows):
            fresh.append(table)
        elif reason := _why_anew(table, note, published, place, writer):
            print_line(f"{table.name}: starts from the beginning, because {reason}")
            fresh.append(table)
        else:
            print_line(
                f"{table.name}: {_FINISHED if note.ended else f'continues after {note.rows} rows'}"
            )
            begun[table.name] = note
    positions = (
        fresh_positions({instance for table in fresh for instance in table.instances})
        if fresh
        else {}
    )
    if positions is None:
        return None
    for table in fresh:
        pairs = {instance: positions[instance].order for instance in table.instances}
        definition = (_rules(table, published), shape_of(table, place), definition_of(table))
        line = begin_line(noted[table.name], uuid.uuid4().hex, pairs, *definition)
        begun[table.name] = notes.add(table.name, noted[table.name], line)
    return begun


def _why_anew(
    table: LogicalTable,
    note: TableNote,
    published: Mapping[str, Published],
    place: str,
    writer: TableWriter,
) -> str:
    """Return why a run cannot be continued, or one that is finished does not count.

    "" where it can or does.
    """
    if set(note.pairs) != set(table.instances) or (note.rules, note.shape) != (
        _rules(table, published),
        shape_of(table, place),
    ):
        return "its key, shards, rules or the location of its copy have changed"
    if note.rows and writer.sink.read(table.name) is None:
        return "its copy was removed"
    if note.ended:
        return ""
    if not note.definition:
        return "an older version of the job began it, which did not note its columns"
    if note.definition != definition_of(table):
        return "its columns or its key changed since its order key was read"
    if writer.is_renamed(table, note.pairs):
        return "its columns were renamed since its order key was read"
    return ""


def _rules(table: LogicalTable, published: Mapping[str, Published]) -> Mapping[str, str]:
    """Return the rules digest of each instance whose rows have rules."""
    return {instance: rows for instance in table.instances if (rows := published[instance].rows)}

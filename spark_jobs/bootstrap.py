"""Copy existing tables for the first time, beside the running stream: `python -m spark_jobs.bootstrap --config job.toml`."""

import sys
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from threading import Event
from typing import Final

from pyspark.sql import SparkSession

from relay.model.change import Operation
from spark_jobs.border import named_errors
from spark_jobs.copy_arguments import copy_arguments
from spark_jobs.ending import Ending
from spark_jobs.errors import JobError
from spark_jobs.first_copy import CopyFigures, FirstCopy, Notes, Pace, TableNote, begin_line, shape_of
from spark_jobs.kafka_source import place_of
from spark_jobs.positions import Published, check_identity, check_rules, check_together, read_published
from spark_jobs.report import print_error, print_line
from spark_jobs.session import open_session
from spark_jobs.settings import JobSettings, load_settings
from spark_jobs.sinks import Sink, check_rule, check_writers, open_sink, place_of_copies
from spark_jobs.source import source_borders
from spark_jobs.sources import LogicalTable, Sources, open_sources, refuse_transforms
from spark_jobs.table_writes import TableWriter

_LOOK_S: Final = 0.2


def run(
    settings: JobSettings, ending: Ending | None = None, *, tables: Sequence[str] = (), anew: bool = False, trace: bool = False
) -> Mapping[str, CopyFigures]:
    """Copy the tables that a run that was cut off left unfinished, and begin the others anew; table → figures. Raises JobError."""
    ending, listens = ending or Ending(), ending is not None
    with named_errors(place_of(settings.kafka)), source_borders(*settings.sources):
        spark = open_session(settings, "roma-bootstrap", trace=trace)
        if listens:
            ending.listen()  # again: Spark's start takes SIGINT away
        check_writers(spark, settings)
        sink = open_sink(spark, settings)
        writer = TableWriter.of(settings, sink, "bootstrap")
        sources = open_sources(spark, settings, tables)
        notes = Notes(spark, settings.bootstrap.notes or f"{settings.copy_root.rstrip('/')}/_bootstrap")
        wanted = list(_copied(sources.tables))
        refuse_transforms(wanted)
        published = _published(spark, settings, sources, wanted)
        check_rule(spark, settings)
        place = place_of_copies(spark, settings)
        shapes = {table.name: shape_of(table, place) for table in wanted}
        begun = _begin(published, shapes, wanted, notes, sink, anew=anew)
        if _pause(ending, settings.bootstrap.settle_seconds):
            return {}
        copying = FirstCopy(
            databases=sources.databases,
            sink=sink,
            writer=writer,
            notes=notes,
            settings=settings.bootstrap,
            positions=lambda table: read_published(spark, settings.kafka, settings.installation, table.instances),
            check=lambda table: _check_servers(sources, table.instances, published),
            stopping=lambda seconds: _pause(ending, seconds),
            progress=_tell_progress,
        )
        return _copy_all(copying, wanted, begun, ending)


def _copy_all(copying: FirstCopy, tables: Sequence[LogicalTable], begun: Mapping[str, TableNote], ending: Ending) -> dict[str, CopyFigures]:
    figures: dict[str, CopyFigures] = {}
    for table in tables:
        if ending.requested:
            break
        figures[table.name] = done = copying.copy(table, begun[table.name])
        state = f"removed {done.removed} that the source has no more" if done.ended else "stopped; the next start goes on"
        print_line(f"{table.name}: {done.rows} rows copied, {state}")
    return figures


def _published(spark: SparkSession, settings: JobSettings, sources: Sources, tables: Sequence[LogicalTable]) -> Mapping[str, Published]:
    """Read the positions of the tables' instances, before anything else of the tables, and check that the sources are theirs."""
    instances = {instance for table in tables for instance in table.instances}
    published = read_published(spark, settings.kafka, settings.installation, instances) if instances else {}
    check_together(settings.sources, published)
    _check_servers(sources, instances, published)
    for instance in instances:
        check_rules(sources.databases[instance].settings, published[instance])
    return published


def _begin(
    published: Mapping[str, Published],
    shapes: Mapping[str, str],
    tables: Sequence[LogicalTable],
    notes: Notes,
    sink: Sink,
    *,
    anew: bool,
) -> dict[str, TableNote]:
    """Begin the run of each table under the published pairs; one that was cut off goes on under its own."""
    noted = {table.name: notes.read(table.name) for table in tables}
    begun = {name: note for name, note in noted.items() if note is not None and not note.ended and not anew}
    fresh = [table for table in tables if not _goes_on(table, begun.get(table.name), published, shapes[table.name], sink)]
    for table in fresh:
        if table.name in begun:
            print_line(f"{table.name}: begins anew, because its key, shards, rules or the place of its copy are not what they were")
        pairs = {instance: published[instance].order for instance in table.instances}
        line = begin_line(noted[table.name], uuid.uuid4().hex, pairs, _rules(table, published), shapes[table.name])
        begun[table.name] = notes.add(table.name, noted[table.name], line)
    for table in tables:
        if table not in fresh:
            print_line(f"{table.name}: goes on behind {begun[table.name].rows} rows")
    return begun


def _check_servers(sources: Sources, instances: Iterable[str], published: Mapping[str, Published]) -> None:
    for instance in instances:
        check_identity(sources.databases[instance], published[instance])


def _goes_on(table: LogicalTable, note: TableNote | None, published: Mapping[str, Published], shape: str, sink: Sink) -> bool:
    """A run begins anew where its notes speak of other shards, keys, rules or copies, or of a copy that was removed."""
    if note is None or set(note.pairs) != set(table.instances) or (note.rules, note.shape) != (_rules(table, published), shape):
        return False
    return not note.rows or sink.read(table.name) is not None


def _rules(table: LogicalTable, published: Mapping[str, Published]) -> Mapping[str, str]:
    """By which rules the rows of each instance are published; those without any are left out."""
    return {instance: rows for instance in table.instances if (rows := published[instance].rows)}


def _copied(tables: Sequence[LogicalTable]) -> Iterator[LogicalTable]:
    """The tables of which there can be a copy; the others are named."""
    for table in tables:
        if table.without_key:
            print_line(f"{table.name}: left out, because no key names its rows ({', '.join(table.without_key)})")
        elif table.leaves_out(Operation.INSERT):
            print_line(f"{table.name}: left out, because an instance does not publish its INSERTs")
        else:
            yield table


def _tell_progress(table: LogicalTable, note: TableNote, pace: Pace) -> None:
    finished = sum(note.shard(shard.name).finished for shard in table.shards)
    print_line(f"{table.name}: {note.rows} rows, {finished} of {len(table.shards)} shards, {pace.rows_per_second:.0f} rows/s")


def _pause(ending: Ending, seconds: float) -> bool:
    """Wait; say whether the end was asked for."""
    left, pause = seconds, Event()
    while left > 0 and not ending.requested:
        pause.wait(min(left, _LOOK_S))
        left -= _LOOK_S
    return ending.requested


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; exit code 1 with a sentence when the job cannot be done. SIGTERM ends it after the round that runs."""
    given = copy_arguments("bootstrap", __doc__, arguments)
    ending = Ending()
    ending.listen()
    try:
        run(load_settings(given.config), ending, tables=given.tables, anew=given.anew, trace=given.trace)
    except JobError as exc:
        print_error(exc, trace=given.trace)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

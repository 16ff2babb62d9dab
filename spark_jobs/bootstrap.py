"""Copy existing tables for the first time, beside the running stream: `python -m
spark_jobs.bootstrap --config job.toml`.
"""

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from threading import Event
from typing import Final

from pyspark.sql import SparkSession

from relay.model.change import Operation
from spark_jobs.apply.table_writer import TableWriter
from spark_jobs.config.job import JobSettings, load_settings
from spark_jobs.errors import OF_ONE_TABLE, JobError, RelayBehind, TablesLeftOut
from spark_jobs.first_copy import (
    CopyFigures,
    FirstCopy,
    Notes,
    Pace,
    TableNote,
    begin,
    check_definition,
)
from spark_jobs.kafka.catching_up import await_published
from spark_jobs.kafka.relay_positions import (
    Published,
    check_identity,
    check_rules,
    check_together,
    read_published,
)
from spark_jobs.kafka.source import place_of
from spark_jobs.origin import SourceDatabase, estimated_rows, place_now, source_borders
from spark_jobs.origin.shards import (
    LogicalTable,
    Sources,
    float_in_key,
    open_sources,
    refuse_transforms,
)
from spark_jobs.runtime.copy_arguments import copy_arguments
from spark_jobs.runtime.session import open_session
from spark_jobs.runtime.shutdown import Ending
from spark_jobs.sinks import check_rule, check_writers, open_sink, place_of_copies
from spark_jobs.spark_util.error_translation import named_errors
from spark_jobs.spark_util.progress import Piece, Progress
from spark_jobs.spark_util.report import print_error, print_line

_LOOK_S: Final = 0.2
_UNSEEN_LAG: Final = (
    "its source shows the user no binlog position (GTIDs, or BACKUP_ADMIN on MySQL 8), so this "
    "job cannot tell whether the relay has still "
    "to read a schema change. Run `roma reconcile` after the copy"
)


def run(
    settings: JobSettings,
    ending: Ending | None = None,
    *,
    tables: Sequence[str] = (),
    anew: bool = False,
    trace: bool = False,
) -> Mapping[str, CopyFigures]:
    """Copy the tables that no run has finished, with `anew` all of them; table → figures.

    Raises JobError.
    """
    ending, listens = ending or Ending(), ending is not None
    with _borders(settings):
        spark = open_session(settings, "roma-bootstrap", trace=trace)
        if listens:
            ending.listen()  # again: Spark's start takes SIGINT away
        check_writers(spark, settings)
        sink = open_sink(spark, settings)
        writer = TableWriter.of(spark, settings, sink, "bootstrap")
        sources = open_sources(spark, settings, tables)
        notes = Notes(
            spark, settings.bootstrap.notes or f"{settings.copy_root.rstrip('/')}/_bootstrap"
        )
        wanted = list(_copied(sources.tables))
        refuse_transforms(wanted)
        published = _published(spark, settings, sources, wanted)
        check_rule(spark, settings)
        place = place_of_copies(spark, settings)

        def fresh_positions(instances: Collection[str]) -> Mapping[str, Published] | None:
            databases = {instance: sources.databases[instance] for instance in instances}
            return _fresh_positions(
                settings,
                databases,
                lambda: _read_published(spark, settings, sources, instances),
                ending,
            )

        begun = begin(wanted, notes, writer, place, published, fresh_positions, anew=anew)
        if begun is None or _pause(ending, settings.bootstrap.settle_seconds):
            return {}
        copying = FirstCopy(
            databases=sources.databases,
            sink=sink,
            writer=writer,
            notes=notes,
            settings=settings.bootstrap,
            positions=lambda table: read_published(
                spark, settings.kafka, settings.installation, table.instances
            ),
            check=lambda table: _check(sources, table, published),
            stopping=lambda seconds: _pause(ending, seconds),
            progress=lambda _table, _note, _pace: None,
        )
        with Progress(say=print_line) as shown:
            return _copy_all(copying, wanted, begun, ending, partial(_borders, settings), shown)


def _copy_all(
    copying: FirstCopy,
    tables: Sequence[LogicalTable],
    begun: Mapping[str, TableNote],
    ending: Ending,
    borders: Callable[[], AbstractContextManager[None]],
    shown: Progress,
) -> dict[str, CopyFigures]:
    """Copy table after table; one that fails is left out.

    Raises TablesLeftOut at the end where one did, other JobErrors at once.
    """
    figures: dict[str, CopyFigures] = {}
    failed: dict[str, JobError] = {}
    for table in tables:
        if ending.requested:
            break
        try:
            with borders():
                figures[table.name] = _copy(copying, table, begun[table.name], shown)
        except OF_ONE_TABLE as exc:
            failed[table.name] = exc
            print_line(f"{table.name}: left out; the other tables are copied. {exc}")
    if failed:
        reasons = "".join(f"\n  {name}: {exc}" for name, exc in failed.items())
        raise TablesLeftOut(
            f"{len(failed)} of {len(tables)} tables could not be copied:{reasons}\n"
        )
    return figures


def _copy(copying: FirstCopy, table: LogicalTable, note: TableNote, shown: Progress) -> CopyFigures:
    if note.ended:
        return CopyFigures(note.rows, 0, ended=True)
    total = estimated_rows(copying.databases, table.shards)
    with shown.piece(
        Piece(table.name, total, note.rows, before=note.rows, estimated=True)
    ) as piece:
        done = replace(copying, progress=partial(_tell_progress, shown, piece)).copy(table, note)
    state = (
        f"removed {done.removed} that the source has no more"
        if done.ended
        else "stopped; the next start goes on"
    )
    print_line(f"{table.name}: {done.rows} rows copied, {state}")
    return done


@contextmanager
def _borders(settings: JobSettings) -> Iterator[None]:
    """Raise JobErrors in place of what Spark, Kafka, the copies and the sources raise."""
    with named_errors(place_of(settings.kafka)), source_borders(*settings.sources):
        yield


def _published(
    spark: SparkSession, settings: JobSettings, sources: Sources, tables: Sequence[LogicalTable]
) -> Mapping[str, Published]:
    """Read the positions of the tables' instances, before anything else of the tables, and check
    that the sources are theirs.
    """
    instances = {instance for table in tables for instance in table.instances}
    published = _read_published(spark, settings, sources, instances)
    for instance in instances:
        check_rules(sources.databases[instance].settings, published[instance])
    return published


def _read_published(
    spark: SparkSession, settings: JobSettings, sources: Sources, instances: Collection[str]
) -> Mapping[str, Published]:
    """Return where these instances are.

    Raises SourcesIncomplete and SourceNotTheOne where the sources are others.
    """
    published = (
        read_published(spark, settings.kafka, settings.installation, instances) if instances else {}
    )
    check_together(settings.sources, published)
    _check_servers(sources, instances, published)
    return published


def _fresh_positions(
    settings: JobSettings,
    databases: Mapping[str, SourceDatabase],
    read: Callable[[], Mapping[str, Published]],
    ending: Ending,
) -> Mapping[str, Published] | None:
    """Return positions that cover all that the sources have committed now, schema changes included.

    None: the end was asked for.

    Raises RelayBehind.
    """
    places = {
        instance: place
        for instance, database in databases.items()
        if (place := place_now(database)) is not None
    }
    for instance in sorted(set(databases) - set(places)):
        print_line(f"{instance}: {_UNSEEN_LAG}")
    seconds = settings.bootstrap.patience_seconds
    published = await_published(databases, places, read, seconds, lambda some: _pause(ending, some))
    if published is None and not ending.requested:
        raise RelayBehind(
            f"The relay has not published within {seconds:.0f} s what "
            f"{', '.join(sorted(databases))} had committed when the tables were "
            "described. A schema change may be among it, and changes of before it would then be "
            "applied over copied rows."
        )
    return published


def _check(sources: Sources, table: LogicalTable, published: Mapping[str, Published]) -> None:
    """Raise SourceNotTheOne or TableChanged where the pairs of the run say nothing of the rows that
    were read.
    """
    _check_servers(sources, table.instances, published)
    check_definition(sources.databases, table)


def _check_servers(
    sources: Sources, instances: Iterable[str], published: Mapping[str, Published]
) -> None:
    for instance in instances:
        check_identity(sources.databases[instance], published[instance])


def _copied(tables: Sequence[LogicalTable]) -> Iterator[LogicalTable]:
    """The tables of which there can be a copy; the others are named."""
    for table in tables:
        if table.without_key:
            print_line(
                f"{table.name}: left out, because no key names its rows "
                f"({', '.join(table.without_key)})"
            )
        elif table.with_longer_key_under_rules:
            print_line(f"{table.name}: left out, because {float_in_key(table)}")
        elif table.leaves_out(Operation.INSERT):
            print_line(f"{table.name}: left out, because an instance does not publish its INSERTs")
        else:
            yield table


def _tell_progress(
    shown: Progress, piece: Piece, table: LogicalTable, note: TableNote, _pace: Pace
) -> None:
    is_first, finished = (
        piece.rows == piece.before,
        sum(note.shard(shard.name).finished for shard in table.shards),
    )
    piece.step, piece.rows = f"{finished} of {len(table.shards)} shards", note.rows
    if is_first:
        shown.first_line(piece)
    if finished == len(table.shards):
        piece.next_step("looking for rows that the source has no more", None)


def _pause(ending: Ending, seconds: float) -> bool:
    """Wait; say whether the end was asked for."""
    left, pause = seconds, Event()
    while left > 0 and not ending.requested:
        pause.wait(min(left, _LOOK_S))
        left -= _LOOK_S
    return ending.requested


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; exit code 1 with a sentence when the job cannot be done.

    SIGTERM ends it after the round that runs.
    """
    given = copy_arguments("bootstrap", __doc__, arguments)
    ending = Ending()
    ending.listen()
    try:
        run(
            load_settings(given.config),
            ending,
            tables=given.tables,
            anew=given.anew,
            trace=given.trace,
        )
    except JobError as exc:
        print_error(exc, trace=given.trace)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

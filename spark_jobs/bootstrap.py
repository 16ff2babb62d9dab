"""Copy existing tables for the first time while the stream runs: `python -m spark_jobs.bootstrap
--config job.toml`.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from threading import Event
from typing import Final

from pyspark.sql import SparkSession

from relay.model.change import Operation
from spark_jobs.apply.table_writer import TableWriter
from spark_jobs.config.job import JobSettings, load_settings
from spark_jobs.errors import OF_ONE_TABLE, JobError, TablesLeftOut
from spark_jobs.first_copy import (
    CopyFigures,
    FirstCopy,
    Notes,
    Pace,
    RunPositions,
    TableNote,
    alterations,
    begin,
)
from spark_jobs.kafka.source import place_of
from spark_jobs.origin import estimated_rows, source_borders
from spark_jobs.origin.shards import (
    LogicalTable,
    open_sources,
    refuse_transforms,
)
from spark_jobs.runtime.copy_arguments import copy_arguments
from spark_jobs.runtime.shutdown import Shutdown
from spark_jobs.runtime.spark_session import open_spark
from spark_jobs.sinks import check_rule, check_writers, open_sink, place_of_copies
from spark_jobs.spark_util.error_translation import named_errors
from spark_jobs.spark_util.progress import Piece, Progress
from spark_jobs.spark_util.report import exit_code_of, print_line

_POLL_SECONDS: Final = 0.2


def run(
    settings: JobSettings,
    shutdown: Shutdown | None = None,
    *,
    tables: Sequence[str] = (),
    anew: bool = False,
    trace: bool = False,
) -> Mapping[str, CopyFigures]:
    """Copy the tables that no run has finished; with `anew` copy all tables again. Return table →
    figures.

    Raises JobError.
    """
    shutdown, listens = shutdown or Shutdown(), shutdown is not None
    with _borders(settings):
        spark = open_spark(settings, "roma-bootstrap", trace=trace)
        if listens:
            shutdown.listen()  # again: Spark's start takes SIGINT away
        return _copy_tables(spark, settings, shutdown, tables, anew=anew)


def _copy_tables(
    spark: SparkSession,
    settings: JobSettings,
    shutdown: Shutdown,
    tables: Sequence[str],
    *,
    anew: bool,
) -> Mapping[str, CopyFigures]:
    check_writers(spark, settings)
    sink = open_sink(spark, settings)
    writer = TableWriter.of(spark, settings, sink, "bootstrap")
    sources = open_sources(spark, settings, tables)
    notes = _notes(spark, settings)
    wanted = list(_copied(sources.tables))
    refuse_transforms(wanted)
    positions = RunPositions(spark, settings, sources)
    published = positions.of_tables(wanted)
    check_rule(spark, settings)
    place = place_of_copies(spark, settings)
    pause = partial(_pause, shutdown)
    fresh = partial(positions.fresh, pause)
    begun = begin(wanted, notes, writer, place, published, fresh, anew=anew)
    if begun is None or pause(settings.bootstrap.settle_seconds):
        return {}
    copying = FirstCopy(
        databases=sources.databases,
        sink=sink,
        writer=writer,
        notes=notes,
        settings=settings.bootstrap,
        positions=positions.of_table,
        check=partial(positions.check, published),
        altered=partial(alterations, sources.databases),
        stopping=pause,
        progress=lambda _table, _note, _pace: None,
    )
    with Progress(say=print_line) as shown:
        return _copy_all(copying, wanted, begun, shutdown, partial(_borders, settings), shown)


def _notes(spark: SparkSession, settings: JobSettings) -> Notes:
    return Notes(spark, settings.bootstrap.notes or f"{settings.copy_root.rstrip('/')}/_bootstrap")


def _copy_all(
    copying: FirstCopy,
    tables: Sequence[LogicalTable],
    begun: Mapping[str, TableNote],
    shutdown: Shutdown,
    borders: Callable[[], AbstractContextManager[None]],
    shown: Progress,
) -> dict[str, CopyFigures]:
    """Copy one table after another; a table that fails is omitted.

    Raises TablesLeftOut at the end if a table failed, other JobErrors immediately.
    """
    figures: dict[str, CopyFigures] = {}
    failed: dict[str, JobError] = {}
    for table in tables:
        if shutdown.requested:
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
        f"removed {done.removed} that the source no longer has"
        if done.ended
        else "stopped; the next start continues"
    )
    print_line(f"{table.name}: {done.rows} rows copied, {state}")
    return done


@contextmanager
def _borders(settings: JobSettings) -> Iterator[None]:
    """Context manager: raise JobErrors instead of the errors of Spark, Kafka, the copies and the
    sources.
    """
    with named_errors(place_of(settings.kafka)), source_borders(*settings.sources):
        yield


def _copied(tables: Sequence[LogicalTable]) -> Iterator[LogicalTable]:
    """Return the tables that can be copied; print the names of the others."""
    for table in tables:
        if table.without_key:
            print_line(
                f"{table.name}: left out, because no key names its rows "
                f"({', '.join(table.without_key)})"
            )
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
        piece.next_step("looking for rows that the source no longer has", None)


def _pause(shutdown: Shutdown, seconds: float) -> bool:
    """Wait; return whether the job was asked to end."""
    left, pause = seconds, Event()
    while left > 0 and not shutdown.requested:
        pause.wait(min(left, _POLL_SECONDS))
        left -= _POLL_SECONDS
    return shutdown.requested


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is 1, with a sentence, if the job fails.

    SIGTERM ends it after the present round.
    """
    given = copy_arguments("bootstrap", __doc__, arguments)
    shutdown = Shutdown()
    shutdown.listen()
    return exit_code_of(
        lambda: run(
            load_settings(given.config),
            shutdown,
            tables=given.tables,
            anew=given.anew,
            trace=given.trace,
        ),
        trace=given.trace,
    )


if __name__ == "__main__":
    sys.exit(main())

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
    TableReport,
    TableState,
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
from spark_jobs.spark_util.report import exit_code_of, print_line, results

Tell = Callable[[TableReport], None]
"""Receives the report of each table when the run is done with it."""

_POLL_SECONDS: Final = 0.2


def run(
    settings: JobSettings,
    shutdown: Shutdown | None = None,
    *,
    tables: Sequence[str] = (),
    anew: bool = False,
    trace: bool = False,
    tell: Tell | None = None,
) -> Mapping[str, CopyFigures]:
    """Copy the tables that no earlier run has finished. Return table → counts.

    shutdown  a request to stop; None: the job cannot be stopped gracefully
    tables    names of logical tables; empty: all
    anew      copy tables again that an earlier run has finished
    trace     show Spark's log of errors
    tell      receives the report of each table; None: reports are printed

    Raises JobError.
    """
    shutdown, listens = shutdown or Shutdown(), shutdown is not None
    with _borders(settings):
        spark = open_spark(settings, "roma-bootstrap", trace=trace)
        if listens:
            shutdown.listen()  # again: Spark's start takes SIGINT away
        return _copy_tables(spark, settings, shutdown, tables, tell or _print, anew=anew)


def _copy_tables(
    spark: SparkSession,
    settings: JobSettings,
    shutdown: Shutdown,
    tables: Sequence[str],
    tell: Tell,
    *,
    anew: bool,
) -> Mapping[str, CopyFigures]:
    check_writers(spark, settings)
    sink = open_sink(spark, settings)
    writer = TableWriter.of(spark, settings, sink, "bootstrap")
    sources = open_sources(spark, settings, tables)
    notes = _notes(spark, settings)
    wanted = _copied(sources.tables, tell)
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
        copy = partial(_copy, copying, shown=shown, tell=tell)
        return _copy_all(copy, wanted, begun, shutdown, partial(_borders, settings), tell)


def _notes(spark: SparkSession, settings: JobSettings) -> Notes:
    return Notes(spark, settings.bootstrap.notes or f"{settings.copy_root.rstrip('/')}/_bootstrap")


def _copy_all(
    copy: Callable[[LogicalTable, TableNote], CopyFigures],
    tables: Sequence[LogicalTable],
    begun: Mapping[str, TableNote],
    shutdown: Shutdown,
    borders: Callable[[], AbstractContextManager[None]],
    tell: Tell,
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
                figures[table.name] = copy(table, begun[table.name])
        except OF_ONE_TABLE as exc:
            failed[table.name] = exc
            tell(TableReport(table.name, TableState.LEFT_OUT, reason=str(exc)))
    if failed:
        reasons = "".join(f"\n  {name}: {exc}" for name, exc in failed.items())
        raise TablesLeftOut(
            f"{len(failed)} of {len(tables)} tables could not be copied:{reasons}\n"
        )
    return figures


def _copy(
    copying: FirstCopy, table: LogicalTable, note: TableNote, shown: Progress, tell: Tell
) -> CopyFigures:
    if note.ended:
        tell(TableReport(table.name, TableState.COPIED_BEFORE, note.rows))
        return CopyFigures(note.rows, 0, ended=True)
    total = estimated_rows(copying.databases, table.shards)
    with shown.piece(
        Piece(table.name, total, note.rows, before=note.rows, estimated=True)
    ) as piece:
        done = replace(copying, progress=partial(_tell_progress, shown, piece)).copy(table, note)
    tell(TableReport.of(table.name, done))
    return done


def _print(report: TableReport) -> None:
    """Print a report, except of a table that an earlier run finished."""
    if report.state is not TableState.COPIED_BEFORE:
        print_line(str(report))


@contextmanager
def _borders(settings: JobSettings) -> Iterator[None]:
    """Context manager: raise JobErrors instead of the errors of Spark, Kafka, the copies and the
    sources.
    """
    with named_errors(place_of(settings.kafka)), source_borders(*settings.sources):
        yield


def _copied(tables: Sequence[LogicalTable], tell: Tell) -> list[LogicalTable]:
    """Return the tables that can be copied; report the others. Raises TransformNotCopied."""
    copied: list[LogicalTable] = []
    for table in tables:
        if table.without_key:
            reason = f"no key names its rows ({', '.join(table.without_key)}): add a primary key"
        elif table.leaves_out(Operation.INSERT):
            reason = "an instance does not publish its INSERTs (filter.operations or a rule)"
        else:
            copied.append(table)
            continue
        tell(TableReport(table.name, TableState.LEFT_OUT, reason=reason))
    refuse_transforms(copied)
    return copied


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
    """Run the command line. Return 0, or 1 after the error was printed as a sentence.

    SIGTERM and SIGINT end the job after the present round. `arguments` None: those of the process.
    """
    given = copy_arguments("bootstrap", __doc__, arguments)
    shutdown = Shutdown()
    shutdown.listen()

    def job() -> None:
        with results(as_json=given.as_json) as say:
            run(
                load_settings(given.config),
                shutdown,
                tables=given.tables,
                anew=given.anew,
                trace=given.trace,
                tell=(lambda report: say(report.to_json())) if given.as_json else None,
            )

    return exit_code_of(job, trace=given.trace)


if __name__ == "__main__":
    sys.exit(main())

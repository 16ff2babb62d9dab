"""Applies one batch of messages to the copies. Both deduplication jobs use it."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic, time

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.apply.batch_summary import BatchContents, contents_of
from spark_jobs.apply.delete_retention import DeleteWatermark
from spark_jobs.apply.late_changes import has_late, judged_late_changes
from spark_jobs.apply.maintenance import Upkeep
from spark_jobs.apply.maintenance_time import UpkeepTime
from spark_jobs.apply.per_table import REDUCED, reduced_batch
from spark_jobs.apply.quarantine import Quarantine
from spark_jobs.apply.renames.following import RenameFollowing
from spark_jobs.apply.truncates.following import Followed, Following
from spark_jobs.apply.truncates.truncated_changes import emptied_changes
from spark_jobs.config.job import JobSettings
from spark_jobs.errors import FormatNotRead, RawRuleRefused
from spark_jobs.sinks import DeltaHistory, DeltaSink, Sink, check_rule, check_writers, open_sink
from spark_jobs.spark_util.batch_stats import BatchFigures
from spark_jobs.spark_util.cache import cached
from spark_jobs.spark_util.progress import Piece
from spark_jobs.spark_util.spark_progress import rows_being_read
from spark_jobs.transforms import (
    ARRIVAL,
    NO_SOURCE,
    OTHER_FORMAT,
    Reader,
    latest_by_key,
    merged_by_key,
    parse_events,
    rekeyed_rows,
)


@dataclass(frozen=True, slots=True)
class Copies:
    """The copies of a job: where they are stored, and how batches are applied to them.

    settings    the settings of the job
    sink        the store of the copies
    history     stores all versions of rows; None: they are not stored
    quarantine  stores messages that cannot be applied
    horizon     the execute time before which copies may have removed deleted keys
    upkeep      maintains the copies at intervals
    following   follows TRUNCATEs; None: they are not followed
    renaming    follows renames of columns; None: they are not followed
    """

    settings: JobSettings
    sink: Sink
    history: DeltaHistory | None
    quarantine: Quarantine
    horizon: DeleteWatermark
    upkeep: Upkeep
    following: Following | None = None
    renaming: RenameFollowing | None = None

    @classmethod
    def of(cls, spark: SparkSession, settings: JobSettings) -> "Copies":
        """Open the copies that the settings name."""
        root, threads = settings.copy_root, settings.merge_threads
        check_writers(spark, settings)
        check_rule(spark, settings)
        sink = open_sink(spark, settings)
        history = (
            DeltaHistory(spark, root, threads, settings.schema_changes, settings.delta)
            if settings.history
            else None
        )
        horizon = DeleteWatermark(spark, root)
        upkeep = Upkeep(
            (sink,) if history is None else (sink, history),
            horizon,
            minutes=settings.tidy_minutes,
            guards_days=settings.guards_days,
            last=UpkeepTime(spark, root),
        )
        following = Following(spark, root, sink) if settings.truncate == "follow" else None
        renaming = (
            RenameFollowing(spark, root, sink)
            if settings.follows_renames and isinstance(sink, DeltaSink)
            else None
        )
        return cls(settings, sink, history, Quarantine(root), horizon, upkeep, following, renaming)

    def apply(
        self,
        records: DataFrame,
        writer: str,
        number: int | None = None,
        *,
        again: bool = True,
        piece: Piece | None = None,
    ) -> BatchFigures:
        """Apply a batch of Kafka records to the copies, and return its counts.

        The same batch can be applied several times; the result is the same.

        writer   name of the job
        records  the Kafka records of the batch
        number   number of the batch; None: it has no number, so a repeated batch is applied again
        again    False: the stream's checkpoint was reset to an older state, so a batch that the
                 copies have under this number is another one. True: it is this batch
        piece    receives the progress; None: no progress is shown

        Raises JobError.
        """
        began, piece = monotonic(), piece or Piece("batch")
        with ExitStack() as held:
            changes = held.enter_context(cached(self._parsed(records)))
            piece.step, piece.read_rows = "reading", partial(rows_being_read, records.sparkSession)
            contents = contents_of(changes)
            if has_late(contents.problems):
                late = judged_late_changes(changes, self.sink)
                changes = held.enter_context(cached(late))
                contents = contents_of(changes)
            followed = self._followed(changes, contents, writer)
            contents = followed.contents
            piece.next_step("writing", contents.rows)
            self._put_aside(followed.changes, contents)
            figures = (
                self._write(followed, writer, number, again=again, done=piece.add)
                if contents.tables
                else BatchFigures()
            )
        self.upkeep.after_batch(contents.newest_change_ms, writer)
        lag = max(time() - contents.newest_s, 0.0) if contents.rows else 0.0
        figures = replace(
            figures, rows=contents.rows, history=contents.history, problems=contents.problems
        )
        figures = replace(figures, truncates=followed.truncates, renames=followed.renames)
        return replace(figures, lag_seconds=lag, seconds=monotonic() - began)

    def _parsed(self, records: DataFrame) -> DataFrame:
        self.horizon.refresh()
        in_parts, raw = self.settings.row_images == "merge", self.settings.raw_rule
        truncates, renames, before_ms = (
            self.following is not None,
            self.renaming is not None,
            self.horizon.before_ms,
        )
        return parse_events(
            records,
            raw_rule=raw,
            in_parts=in_parts,
            horizon_ms=before_ms,
            truncates=truncates,
            renames=renames,
            reader=Reader(
                self.settings.value_style,
                self.settings.kafka.topics,
                self.settings.needs_instances,
            ),
        )

    def _followed(self, changes: DataFrame, contents: BatchContents, writer: str) -> Followed:
        followed = (
            Followed(changes, contents)
            if self.following is None
            else self.following.follow(changes, contents, writer)
        )
        return followed if self.renaming is None else self.renaming.follow(followed)

    def _put_aside(self, changes: DataFrame, contents: BatchContents) -> None:
        if NO_SOURCE in contents.problems:
            raise RawRuleRefused(
                f"{contents.problems[NO_SOURCE]} messages cannot be ordered: {NO_SOURCE}."
            )
        if OTHER_FORMAT in contents.problems:
            raise FormatNotRead(
                f"{contents.problems[OTHER_FORMAT]} messages cannot be read: {OTHER_FORMAT}."
            )
        if contents.problems:
            self.quarantine.add(changes.where(sf.col("problem").isNotNull()))

    def _write(
        self,
        followed: Followed,
        writer: str,
        number: int | None,
        *,
        again: bool,
        done: Callable[[int], None],
    ) -> BatchFigures:
        """Apply changes of current rows without problems. The history is written first, so that
        no copy shows a version that the history lacks.
        """
        contents = followed.contents
        good = followed.changes.where(sf.col("problem").isNull() & ~sf.col("history"))
        every = good.unionByName(rekeyed_rows(good)).select(*REDUCED, *self._looked_at)
        style = self.settings.value_style
        reduced = partial(
            reduced_batch,
            contents=contents.tables,
            writer=writer,
            number=number,
            style=style,
            again=again,
        )
        if self.history is not None:
            rows = every.where(
                ~sf.col("deleted") | (sf.size("data") > 0)
            )  # a tombstone stands for a version, and has none
            with cached(rows.dropDuplicates(["table", "key", "order"])) as versions:
                self.history.write(reduced(versions))
        with cached(self._newest(emptied_changes(every, followed.floors), contents)) as newest:
            keys, deletes = newest.agg(sf.count("*"), sf.count_if("deleted")).collect()[0]
            written = self.sink.write(replace(reduced(newest), done=done))
        winners, replayed = (
            sum(each.winners for each in written.values()),
            sum(each.replayed for each in written.values()),
        )
        return BatchFigures(keys=keys, deletes=deletes, winners=winners, replayed=replayed)

    @property
    def _looked_at(self) -> Sequence[str]:
        """Return further columns that decide between changes, and the real table of each."""
        real_table = () if self.following is None else ("real_table",)
        return (
            ("type",)
            if self.settings.row_images == "merge"
            else ARRIVAL
            if self.settings.raw_rule
            else real_table
        )

    def _newest(self, every: DataFrame, contents: BatchContents) -> DataFrame:
        ties = ARRIVAL if self.settings.raw_rule else ()
        newest = (
            merged_by_key(every)
            if self.settings.row_images == "merge"
            else latest_by_key(every, ties)
        )
        # Tables lie together in the cache, whose statistics then spare each of them the others'
        # rows.
        return newest.sortWithinPartitions("table") if len(contents.tables) > 1 else newest

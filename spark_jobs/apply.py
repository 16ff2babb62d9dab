"""One batch of messages → the copies; shared by both jobs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic, time
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.cache import cached
from spark_jobs.contents import BatchContents, contents_of
from spark_jobs.errors import RawRuleRefused
from spark_jobs.figures import BatchFigures
from spark_jobs.horizon import Horizon
from spark_jobs.quarantine import Quarantine
from spark_jobs.reduction import reduced_batch
from spark_jobs.settings import JobSettings
from spark_jobs.sinks import DeltaHistory, Sink, check_rule, check_writers, open_sink
from spark_jobs.transforms import ARRIVAL, NO_SOURCE, latest_by_key, merged_by_key, moved_rows, parse_events
from spark_jobs.upkeep import Upkeep

_REDUCED: Final = ("table", "key", "order", "execute_time", "execute_position", "deleted", "data", "mysql_types")
"""What a sink gets of a change: nothing else goes through the exchange by keys."""


@dataclass(frozen=True, slots=True)
class Copies:
    """Where a job writes to, and by which rule."""

    settings: JobSettings
    sink: Sink
    history: DeltaHistory | None
    quarantine: Quarantine
    horizon: Horizon
    upkeep: Upkeep

    @classmethod
    def of(cls, spark: SparkSession, settings: JobSettings) -> "Copies":
        """Open what the configuration names."""
        root, threads = settings.copy_root, settings.merge_threads
        check_writers(spark, settings)
        check_rule(spark, settings)
        sink = open_sink(spark, settings)
        history = DeltaHistory(spark, root, threads, settings.schema_changes) if settings.history else None
        horizon = Horizon(spark, root)
        upkeep = Upkeep(
            (sink,) if history is None else (sink, history),
            horizon,
            minutes=settings.tidy_minutes,
            guards_days=settings.guards_days,
        )
        return cls(settings, sink, history, Quarantine(root), horizon, upkeep)

    def apply(self, records: DataFrame, writer: str, number: int | None = None, *, again: bool = True) -> BatchFigures:
        """Apply a batch of Kafka records; again, if need be, with the same result. Raises JobError.

        `writer` and `number` name it; `again`: whether a batch of this name that was applied before was this one.
        """
        began = monotonic()
        in_parts, raw = self.settings.row_images == "merge", self.settings.raw_rule
        with cached(parse_events(records, raw_rule=raw, in_parts=in_parts, horizon_ms=self.horizon.before_ms)) as changes:
            contents = contents_of(changes)
            self._put_aside(changes, contents)
            figures = self._write(changes, contents, writer, number, again=again) if contents.tables else BatchFigures()
        self.upkeep.after_batch(contents.newest_change_ms)
        lag = max(time() - contents.newest_s, 0.0) if contents.rows else 0.0
        return replace(figures, rows=contents.rows, problems=contents.problems, lag_seconds=lag, seconds=monotonic() - began)

    def _put_aside(self, changes: DataFrame, contents: BatchContents) -> None:
        if NO_SOURCE in contents.problems:
            raise RawRuleRefused(f"{contents.problems[NO_SOURCE]} messages cannot be ordered: {NO_SOURCE}.")
        if contents.problems:
            self.quarantine.add(changes.where(sf.col("problem").isNotNull()))

    def _write(self, changes: DataFrame, contents: BatchContents, writer: str, number: int | None, *, again: bool) -> BatchFigures:
        """Apply what has no problem; the history first, so that no copy shows a version that the history lacks."""
        good = changes.where(sf.col("problem").isNull())
        every = good.unionByName(moved_rows(good)).select(*_REDUCED, *self._looked_at)
        style = self.settings.value_style
        reduced = partial(reduced_batch, contents=contents.tables, writer=writer, number=number, style=style, again=again)
        if self.history is not None:
            rows = every.where(~sf.col("deleted") | (sf.size("data") > 0))  # a tombstone stands for a version, and has none
            with cached(rows.dropDuplicates(["table", "key", "order"])) as versions:
                self.history.write(reduced(versions))
        with cached(self._newest(every, contents)) as newest:
            keys, deletes = newest.agg(sf.count("*"), sf.count_if("deleted")).collect()[0]
            written = self.sink.write(reduced(newest))
        winners, replayed = sum(each.winners for each in written.values()), sum(each.replayed for each in written.values())
        return BatchFigures(keys=keys, deletes=deletes, winners=winners, replayed=replayed)

    @property
    def _looked_at(self) -> Sequence[str]:
        """What else of a change says which one counts."""
        return ("type",) if self.settings.row_images == "merge" else ARRIVAL if self.settings.raw_rule else ()

    def _newest(self, every: DataFrame, contents: BatchContents) -> DataFrame:
        newest = merged_by_key(every) if self.settings.row_images == "merge" else latest_by_key(every, self._looked_at)
        # Tables lie together in the cache, whose statistics then spare each of them the others' rows.
        return newest.sortWithinPartitions("table") if len(contents.tables) > 1 else newest

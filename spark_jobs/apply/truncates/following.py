"""Applies the TRUNCATEs of a batch: deletes the truncated rows from the copies before any change of
the batch is written.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.apply.batch_summary import BatchContents, contents_of
from spark_jobs.apply.truncates.copy_rows import empty_copies, refused
from spark_jobs.apply.truncates.floors import Floors, FloorStore, floors_above, raised
from spark_jobs.apply.truncates.truncated_changes import judged_changes
from spark_jobs.sinks import Sink
from spark_jobs.transforms import TRUNCATE


@dataclass(slots=True)
class Followed:
    """A batch after its TRUNCATEs and renames were applied.

    changes    the remaining changes
    contents   the summary of the remaining changes
    floors     (logical, real table) → order key of its newest TRUNCATE
    truncates  number of TRUNCATEs that were applied
    renames    number of renames that were applied
    """

    changes: DataFrame
    contents: BatchContents
    floors: Floors = field(default_factory=dict)
    truncates: int = 0
    renames: int = 0


class Following:
    """Applies TRUNCATEs to the copies of one sink. Only the stream uses it, because no other job
    stores floors (the order keys of TRUNCATEs).

    Each step can be repeated: floors are stored before a row of a copy is changed. So a batch that
    was interrupted is applied again with the same floors. A first copy that runs in parallel reads
    the floors after its own writes.
    """

    def __init__(self, spark: SparkSession, root: str, sink: Sink) -> None:
        self._store = FloorStore(spark, root)
        self._sink = sink
        self._floors = self._store.read()

    def follow(self, changes: DataFrame, contents: BatchContents, writer: str) -> Followed:
        """Remove the rows that the batch's TRUNCATEs delete from the copies; return the rest of the
        batch.

        changes   the result of `parse_events`
        contents  the summary of the batch
        writer    name of the job
        """
        floors = floors_above(self._floors, contents.oldest_orders)
        if not (contents.truncates or floors):
            return Followed(changes, contents)
        news = {
            place: order
            for place, order in contents.truncates.items()
            if order > self._floors.get(place, "")
        }
        problems = refused(self._sink, news)
        accepted = {
            place: order for place, order in contents.truncates.items() if place not in problems
        }
        if any(order > self._floors.get(place, "") for place, order in accepted.items()):
            self._store.raise_to(accepted)
            self._floors = raised(self._floors, accepted)
        empty_copies(
            self._sink, {place: self._floors[place] for place in accepted}, f"{writer} truncate"
        )
        floors = floors_above(self._floors, contents.oldest_orders)
        rest = _without(changes, problems)
        if not (floors or problems):
            return Followed(rest, contents, truncates=len(accepted))
        judged = judged_changes(rest, floors) if floors else rest
        return Followed(judged, contents_of(judged), floors, len(accepted))


def _without(changes: DataFrame, problems: Mapping[tuple[str, str], str]) -> DataFrame:
    """Take out the TRUNCATEs, but for those that have a problem from now on."""
    emptying = (sf.col("type") == TRUNCATE) & sf.col("problem").isNull()
    if not problems:
        return changes.where(~emptying)
    sentence = sf.lit(None).cast("string")
    for (table, real), reason in problems.items():
        own = (sf.col("table") == table) & (sf.col("real_table") == real)
        sentence = sf.when(own, sf.lit(f"table {table} {reason}")).otherwise(sentence)
    judged = changes.withColumn("problem", sf.when(emptying, sentence).otherwise(sf.col("problem")))
    unplaced = judged.withColumn(
        "row", sf.when(sf.col("type") != TRUNCATE, sf.col("row"))
    )  # as of every message that has a problem
    return unplaced.where((sf.col("type") != TRUNCATE) | sf.col("problem").isNotNull())

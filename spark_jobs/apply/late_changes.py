"""Handles late changes: those from before the time for which the copies keep the order keys of
deleted rows (`guards_days`).
"""

from collections.abc import Mapping
from functools import reduce

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame

from spark_jobs.sinks import Sink
from spark_jobs.transforms import KEY, TOO_LATE, rekeyed_rows


def has_late(problems: Mapping[str, int]) -> bool:
    """Return whether a batch has late changes.

    `problems` maps each reason why messages cannot be applied to the number of these messages.
    """
    return any(reason.endswith(TOO_LATE) for reason in problems)


def judged_late_changes(changes: DataFrame, sink: Sink) -> DataFrame:
    """Return the changes, and clear the problem "late" of those that cannot restore a deleted row.

    changes  the result of `parse_events`
    sink     the copies

    A late change cannot restore a deleted row if the copy still has its key, because the copy then
    compares the order keys. The same is true if the batch has a newer change of the key, or if the
    batch's last change of the key is a delete. So a whole batch that is read again gives the same
    copies as the first time. Evaluate the result only once, because it depends on the copies.
    """
    late = sf.coalesce(sf.endswith(sf.col("problem"), sf.lit(TOO_LATE)), sf.lit(False))
    marked = changes.withColumn("late", late)
    counting = marked.where(sf.col("late") | (sf.col("problem").isNull() & ~sf.col("history")))
    every = counting.unionByName(rekeyed_rows(counting)).select(
        "table", "key", "order", "deleted", "late"
    )
    keys = (
        every.groupBy("table", "key")
        .agg(
            sf.bool_or("late").alias("any_late"),
            (sf.bool_or(~sf.col("late")) | sf.max_by("deleted", "order")).alias("is_settled"),
        )
        .where(sf.col("any_late"))
    )
    known = _known_keys(keys, sink)
    settled = keys.where(sf.col("is_settled")).select("table", "key")
    comparable = settled if known is None else settled.unionByName(known).distinct()
    judged = marked.join(comparable.withColumn("is_comparable", sf.lit(True)), ["table", "key"],
                         "left")  # fmt: skip
    resolved = sf.col("late") & sf.coalesce("is_comparable", sf.lit(False))
    return judged.withColumn("problem", sf.when(~resolved, sf.col("problem"))).select(
        *changes.columns
    )


def _known_keys(keys: DataFrame, sink: Sink) -> DataFrame | None:
    """The keys that copies have, deleted ones included; None without copies."""
    tables = [row["table"] for row in keys.select("table").distinct().collect()]
    copies = ((table, sink.read(table)) for table in tables)
    found = [
        copy.select(sf.lit(table).alias("table"), sf.col(KEY).alias("key"))
        for table, copy in copies
        if copy is not None
    ]
    if not found:
        return None
    return reduce(DataFrame.unionByName, found).join(keys, ["table", "key"], "left_semi")

"""Converts changes from before a TRUNCATE to deletes, because such changes may arrive after it.
Each delete has the order key of its change.

A TRUNCATE removes the rows of one real table. It names no keys, and the row of a key may later be
in another real table. So a TRUNCATE is not compared with the changes of a key. Instead, each change
of its real table with a smaller order key counts as a delete. Afterwards the newest change of each
key is applied, as without a TRUNCATE.
"""

from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame

from spark_jobs.apply.truncates.floors import Floors, family_of, floors_frame, names_source

_UNKNOWN: Final = (
    " has a change that is older than a TRUNCATE. The change does not name its real table, or "
    "is of the time before its instance became a group, so it is unknown whether it is still "
    "valid. Set message.headers = 'full' in the relay, and copy the table with roma bootstrap "
    "--anew"
)


def emptied_changes(changes: DataFrame, floors: Floors) -> DataFrame:
    """Return the changes; those from before the newest TRUNCATE of their real table become deletes.

    changes  at least the columns table, real_table, order (order key) and deleted
    floors   (logical, real table) → order key of its newest TRUNCATE
    """
    if not floors:
        return changes
    known = floors_frame(changes.sparkSession, floors).withColumnRenamed("order", "floor")
    met = changes.join(sf.broadcast(known), ["table", "real_table"], "left")
    gone = sf.coalesce(sf.col("order") < sf.col("floor"), sf.lit(False))
    return met.withColumn("deleted", sf.col("deleted") | gone).select(*changes.columns)


def judged_changes(changes: DataFrame, floors: Floors, reason: str = _UNKNOWN) -> DataFrame:
    """Return parsed changes; one gets a problem if it is unknown whether a TRUNCATE applies to it.

    A change that is older than a TRUNCATE of its logical table gets a problem in two cases. Either
    the change does not name its real table. Or it names the same real table as the TRUNCATE, but
    only one of the two names contains the source of a group.

    floors  (logical, real table) → order key of its newest TRUNCATE
    reason  text of the problem, after the name of the table
    """
    known = floors_frame(changes.sparkSession, floors)
    tops = known.groupBy(sf.col("table").alias("top_table")).agg(sf.max("order").alias("top"))
    families = known.groupBy(
        sf.col("table").alias("family_table"),
        family_of(sf.col("real_table")).alias("family"),
        names_source(sf.col("real_table")).alias("sourced"),
    ).agg(sf.max("order").alias("family_top"))
    own = sf.col("real_table")
    unnamed = (sf.col("table") == sf.col("top_table")) & own.isNull()
    otherwise_named = (
        (sf.col("table") == sf.col("family_table"))
        & (family_of(own) == sf.col("family"))
        & (names_source(own) != sf.col("sourced"))
    )
    met = changes.join(sf.broadcast(tops), unnamed, "left").join(
        sf.broadcast(families), otherwise_named, "left"
    )
    below = sf.col("order") < sf.greatest("top", "family_top")
    doubtful = sf.col("problem").isNull() & ~sf.col("deleted") & sf.coalesce(below, sf.lit(False))
    sentence = sf.concat(sf.lit("table "), sf.col("table"), sf.lit(reason))
    return met.withColumn(
        "problem", sf.when(doubtful, sentence).otherwise(sf.col("problem"))
    ).select(*changes.columns)

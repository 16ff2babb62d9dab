"""Keys that are in the copy but no longer in the source, and the order with which they may be
removed. A row of the copy does not name its instance; its order limits the possible ones. It
cannot come from an instance whose record, read *after* the copy, has a smaller order key. Each
remaining instance either published it up to the order key of its shards' read (then the row was
deleted there), or later (then this run ignores it).
"""

from collections.abc import Mapping
from functools import reduce
from operator import or_

import pyspark.sql.functions as sf
from pyspark.sql import Column, DataFrame

from spark_jobs.transforms import DELETED, KEY, ORDER

REMOVE = "remove"
UNDECIDED = "undecided"


def unmet(
    copy: DataFrame, met: DataFrame, pairs: Mapping[str, str], pairs_after: Mapping[str, str]
) -> DataFrame:
    """Return the live keys of `copy` that `met` (column `key`) lacks and whose order is at most one
    of the order keys.

    Columns: key, verdict (REMOVE or UNDECIDED), order (of the delete, for REMOVE). A key is
    undecided while one instance may have had it before its order key and another one published it
    after its own: new order keys decide it.
    """
    live = copy.where(~sf.col(DELETED)).select(
        sf.col(KEY).alias("key"), sf.col(ORDER).alias("shown")
    )
    missing = live.join(met.select("key"), "key", "left_anti")
    shown = sf.col("shown")
    possible = {instance: shown <= pairs_after[instance] for instance in pairs}
    before = {instance: shown <= pair for instance, pair in pairs.items()}
    reached = reduce(or_, before.values())
    later = reduce(or_, (possible[instance] & ~before[instance] for instance in pairs))
    order = _least([sf.when(before[instance], sf.lit(pair)) for instance, pair in pairs.items()])
    verdict = sf.when(later, UNDECIDED).otherwise(REMOVE)
    return missing.where(reached).select("key", verdict.alias("verdict"), order.alias("order"))


def _least(texts: list[Column]) -> Column:
    """The smallest that is not null."""
    return sf.least(*texts) if len(texts) > 1 else texts[0]

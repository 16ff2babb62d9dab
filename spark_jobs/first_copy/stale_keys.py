"""Keys that the copy holds and the source has no more, and the order with which they may be
removed.

A row of the copy does not say which instance it came from; its order says which it can have come
from. It cannot be of an instance whose record, read *after* the copy, has a smaller pair. Of those
that remain, each either published it no later than the pair that its shards were read under (then
the row is gone there), or after (then it is none of this run's business).
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
    """Return the live keys of `copy` that `met` (column `key`) lacks and whose order some pair
    reaches.

    Columns: key, verdict (REMOVE or UNDECIDED), order (of the delete, where it is REMOVE). A key is
    undecided while one instance may have had it before its pair and another one published it after
    its own: new pairs decide it.
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

"""Finds keys that are in the copy but no longer in the source, and the order of their deletes.

A row of the copy does not name its instance, but its order excludes some instances. The row cannot
come from an instance whose position record, read *after* the copy, has a smaller order key. For
each remaining instance there are two cases. If it published the row before its shards were read,
the row was deleted there. If it published the row later, this run ignores the row.
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
    """Return the keys of `copy` that the source does not have, and how to treat them.

    A key whose order is above all order keys in `pairs` is not returned: its row was published
    after these order keys were read.

    copy         the copy; deleted rows are ignored
    met          keys of the source (column key)
    pairs        instance → order key, read before the rows
    pairs_after  instance → order key, read after the copy

    Columns of the result: key, verdict (REMOVE or UNDECIDED), order (of the delete, for REMOVE). A
    key is UNDECIDED if the order of its row is above an instance's order key in `pairs`, but not
    above the one in `pairs_after`: this instance may have published the row after the first of the
    two was read. Newer order keys then decide.
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

"""Checks the guards of a copy's rows (the columns with the order key of the newest change) against
each other and against the order keys that the relay has published.

`_order` is the guard: a change with a smaller one is discarded. `_execute_time` and
`_execute_position` are its two numbers, by which Delta finds winners faster, so they must agree
with it. If another program changed a row's guards, the row refuses newer changes or accepts older
ones.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql.types import DataType

from relay.envelope.order import POSITION_DIGITS, TIME_DIGITS
from spark_jobs.comparison.keys import copy_key
from spark_jobs.origin import Shard
from spark_jobs.spark_util.identifiers import quoted
from spark_jobs.transforms import EXECUTE_POSITION, EXECUTE_TIME, KEY, ORDER

DISAGREE: Final = f"{ORDER} does not match {EXECUTE_TIME} and {EXECUTE_POSITION}"
AHEAD: Final = f"{ORDER} is greater than every order key that the relay has published"


def odd_rows(
    copy: DataFrame, shard: Shard, kinds: Mapping[str, DataType], newest: str
) -> DataFrame | None:
    """Return the rows whose stored order keys (guards) contradict each other or are greater than
    `newest`; None if there are none.

    Deleted rows are included. `kinds` are the types of the copy's columns. The result has the
    columns place (text of the key; "" if the row no longer has values of its key) and key. `newest`
    is the greatest order that the relay had published before the copy was read, so rows that the
    stream wrote since then are included.
    """
    odd = copy.where(_disagree() | (_greatest() > newest))
    if odd.isEmpty():
        return None
    known = [
        sf.col(quoted(column.name)).isNotNull()
        for column in shard.published_key
        if column.name.lower() in kinds
    ]
    whole = sf.lit(len(known) == len(shard.published_key))
    for each in known:
        whole = whole & each
    place = sf.when(whole, copy_key(shard, kinds)).otherwise("") if known else sf.lit("")
    return odd.select(place.alias("place"), sf.col(KEY).alias("key"))


def guard_findings(row: Row, newest: str | None) -> Sequence[str]:
    """Return sentences about problems with the stored order keys (guards) of a row; an empty
    sequence if there are none.

    `newest` is the greatest order that the relay has published, read after the row; None: the
    guards are not compared with it.
    """
    if newest is None:
        return ()
    found = [] if row[ORDER] == _pair(row) else [DISAGREE]
    return [*found, AHEAD] if greatest_order(row) > newest else found


def greatest_order(row: Row) -> str:
    """Return the greatest order key that a row of a copy has stored. A change must have at least
    this order key to replace the row in every kind of copy.
    """
    return max(row[ORDER] or "", _pair(row))


def _pair(row: Row) -> str:
    time, position = row[EXECUTE_TIME], row[EXECUTE_POSITION]
    return (
        ""
        if time is None or position is None
        else f"{time:0{TIME_DIGITS}d}.{position:0{POSITION_DIGITS}d}"
    )


def _disagree() -> Column:
    return ~sf.col(ORDER).eqNullSafe(_pair_column())


def _greatest() -> Column:
    return sf.greatest(sf.col(ORDER), _pair_column())


def _pair_column() -> Column:
    time, position = sf.col(EXECUTE_TIME).cast("string"), sf.col(EXECUTE_POSITION).cast("string")
    return sf.concat(
        sf.lpad(time, TIME_DIGITS, "0"), sf.lit("."), sf.lpad(position, POSITION_DIGITS, "0")
    )

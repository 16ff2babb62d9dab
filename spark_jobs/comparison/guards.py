"""Checks the guards of a copy's rows: against each other, and against the order keys that the relay
has published.

The guards of a row are three columns with the order key of the newest change that was applied to
it. `_order` has the order key as text; a change with a smaller order key is discarded.
`_execute_time` and `_execute_position` have its two numbers, because Delta compares numbers faster.
So `_order` and the two numbers must agree. If another program changed them, the jobs discard newer
changes of the row or apply older ones.
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
    """Return the rows whose guards contradict each other or are greater than `newest`; None if
    there are none.

    copy    the copy, including its deleted rows
    shard   a shard of the table, which has the columns of the key
    kinds   types of the copy's columns, by name in lower case
    newest  greatest order key that the relay had published before the copy was read. If the stream
            has written a row with a greater order key since then, the result contains that row too,
            although its guards are valid; a later comparison decides

    Columns of the result: key (message key), and place (text of the key, as in `copy_key`; "" if
    the row has lost a value of its key).
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
    """Return one sentence for each problem with the guards of a row; empty if there is none.

    row     a row of the copy with its guards
    newest  greatest order key that the relay has published, read after the row; None: the copies
            are not ordered by it, so the guards are not checked
    """
    if newest is None:
        return ()
    found = [] if row[ORDER] == _pair(row) else [DISAGREE]
    return [*found, AHEAD] if greatest_order(row) > newest else found


def greatest_order(row: Row) -> str:
    """Return the greater of the two order keys in a row's guards: `_order`, and the one made of
    `_execute_time` and `_execute_position`.

    They differ only if another program changed them. A change with this order key or a greater one
    replaces the row in every kind of copy, whichever of the guards the copy compares.
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

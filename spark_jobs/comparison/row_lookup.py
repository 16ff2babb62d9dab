"""Reads single rows from both sides, and compares them as values of the copy's types."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame, Row, SparkSession

from spark_jobs.comparison.as_copied import Columns, as_copied, columns_of
from spark_jobs.comparison.guards import greatest_order, guard_findings
from spark_jobs.comparison.keys import boundary_of
from spark_jobs.origin import Shard, SourceDatabase, key_equals, message_rows
from spark_jobs.origin.shards import LogicalTable
from spark_jobs.spark_util.text_frame import texts
from spark_jobs.transforms import DELETED, KEY, ORDER
from spark_jobs.transforms.guards import UNFIT

_KEYS_A_QUERY: Final = 500
_ABSENT_IN_COPY: Final = "the copy has no such row"
_ABSENT_IN_SOURCE: Final = "the source has no such row"
SEVERAL_IN_SOURCE: Final = "several real tables have a row with this key"


@dataclass(frozen=True, slots=True)
class TargetRow:
    """One row to compare.

    key    its message key
    place  text of its key columns, as in `keys.source_key`, by which the source finds the row; "":
           unknown
    """

    key: str
    place: str


@dataclass(frozen=True, slots=True)
class Seen:
    """A row that differed when it was compared.

    key     its message key
    place   text of its key columns, as in `TargetRow`
    what    names of the columns that differ, or a sentence that says which side lacks the row; then
            one sentence for each problem of its guards
    source  hash of the source's values, or several hashes separated by spaces if several real
            tables have a row with this key; None: the source has no row
    order   `_order` of the copy's row, also of a deleted one; None: the copy has no row
    guard   the smallest order key that is certain to replace the copy's row; it is greater than
            `order` if another program changed the guards. "": the copy has no row
    reason  why a repair failed; "": it did not fail, or there was none
    """

    key: str
    place: str
    what: Sequence[str]
    source: str | None
    order: str | None
    guard: str = ""
    reason: str = ""


def compare_again(
    spark: SparkSession,
    databases: Mapping[str, SourceDatabase],
    table: LogicalTable,
    copy: DataFrame,
    places: Sequence[TargetRow],
    newest: Callable[[], str | None],
) -> Mapping[str, Seen]:
    """Compare single rows; return those that differ now: message key → difference.

    databases  instance → its source
    table      the logical table
    copy       the copy of the table
    places     the rows to compare
    newest     returns the greatest order key that the relay has published; if it returns None,
               guards are not checked

    The rows are read from the source first, then from the copy. `newest` is called last.
    """
    columns = columns_of(table, copy)
    source = _of_source(databases, table, columns, places)
    wanted = texts(spark, KEY, [each.key for each in places])
    shown = {row[KEY]: row for row in copy.join(sf.broadcast(wanted), KEY, "left_semi").collect()}
    published = newest()
    found = (
        _seen(place, source.get(place.key, ()), shown.get(place.key), columns, published)
        for place in places
    )
    return {each.key: each for each in found if each is not None}


def source_rows(
    databases: Mapping[str, SourceDatabase], table: LogicalTable, places: Sequence[TargetRow]
) -> list[tuple[Shard, DataFrame]]:
    """Return the rows with the keys in `places` as the sources have them now, by shard. Rows with
    other keys may be included.

    The result has one element for each query. A shard whose real table cannot have any of the keys
    needs no query; if no shard needs one, the result has one DataFrame without rows. Columns: table
    (logical), key (message key), data, mysql_types. `databases` maps each instance to its source.
    """
    found = [
        (shard, rows)
        for shard in table.shards
        for rows in _of_shard(databases[shard.instance], shard, places)
    ]
    if found:
        return found
    # All keys contain real tables that the sources no longer have.
    shard = table.shards[0]
    return [(shard, message_rows(databases[shard.instance], shard, "FALSE"))]


def _of_shard(
    database: SourceDatabase, shard: Shard, places: Sequence[TargetRow]
) -> Iterator[DataFrame]:
    """Yield the rows with these keys, and perhaps more rows, in queries of limited length.

    If the key is masked, the rows are found only by reading the whole table.
    """
    if shard.rules is not None and shard.rules.hides_key:
        rows = message_rows(database, shard, "TRUE")
        yield rows.join(
            sf.broadcast(texts(rows.sparkSession, "key", [each.key for each in places])),
            "key",
            "left_semi",
        )
        return
    # FLOATs that the server prints with the same digits have one entry: it is queried once.
    found = (boundary_of(shard, each) for each in dict.fromkeys(each.place for each in places))
    keys = [key for key in found if key is not None]
    for start in range(0, len(keys), _KEYS_A_QUERY):
        asked = keys[start : start + _KEYS_A_QUERY]
        where = " OR ".join(f"({key_equals(shard.key, key)})" for key in asked)
        yield message_rows(database, shard, where)


def _of_source(
    databases: Mapping[str, SourceDatabase],
    table: LogicalTable,
    columns: Columns,
    places: Sequence[TargetRow],
) -> Mapping[str, Sequence[Row]]:
    """Return rows by key, in the types of the copy, with a fingerprint of all values in the
    source.
    """
    rows = reduce(
        DataFrame.unionByName, [rows for _, rows in source_rows(databases, table, places)]
    )
    found: dict[str, list[Row]] = {}
    for row in as_copied(table, rows, columns).collect():
        found.setdefault(row[KEY], []).append(row)
    return found


def _seen(
    place: TargetRow,
    rows: Sequence[Row],
    copy: Row | None,
    columns: Iterable[str],
    newest: str | None,
) -> Seen | None:
    """Compare one row; a value that fits no type is compared as text under its column's name."""
    source = rows[0] if rows else None
    fingerprint, order = (
        " ".join(sorted(row[ORDER] for row in rows)) or None,
        (None if copy is None else copy[ORDER]),
    )
    there = copy is not None and not copy[DELETED]
    if len(rows) > 1:
        what = [SEVERAL_IN_SOURCE]
    elif source is not None and copy is not None and there:
        what = [
            name
            for name in columns
            if source[name] != _held(copy, name) or _unfit(source, name) != _unfit(copy, name)
        ]
    else:
        what = [_ABSENT_IN_COPY] if source is not None else [_ABSENT_IN_SOURCE] if there else []
    if copy is not None:
        what = [*what, *guard_findings(copy, newest)]
    guard = "" if copy is None else greatest_order(copy)
    return Seen(place.key, place.place, tuple(what), fingerprint, order, guard) if what else None


def _held(copy: Row, name: str) -> object:
    """Null where the copy has no such column."""
    return copy[name] if name in copy else None  # noqa: SIM401 - a Row has no get


def _unfit(row: Row, name: str) -> str | None:
    return (row[UNFIT] or {}).get(name)

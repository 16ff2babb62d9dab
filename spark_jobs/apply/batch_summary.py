"""Computes a summary of a batch, once, before the batch is applied."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyspark.sql.functions as sf
from pyspark.sql import Column, DataFrame, Row

from spark_jobs.apply.per_table import TableContents
from spark_jobs.apply.renames.names import Rename
from spark_jobs.apply.truncates.floors import Floors, Place
from spark_jobs.transforms import TRUNCATE, TableSchema


@dataclass(frozen=True, slots=True)
class BatchContents:
    """Counts and facts about a batch, computed before anything is applied.

    rows              number of changes read, including quarantined ones
    tables            logical table → its changes and definitions
    problems          reason why messages cannot be applied → number of these messages
    newest_s          time of the newest message in Unix seconds
    newest_change_ms  greatest execute time in Unix milliseconds
    truncates         (logical, real table) → greatest order key of its TRUNCATEs, if they are
                      followed
    oldest_orders     logical table → smallest order key of its changes
    history           number of changes of history rows of system-versioned tables
    renames           renames of columns to follow, each with its logical and its real table
    """

    rows: int
    tables: Mapping[str, TableContents]
    problems: Mapping[str, int]
    newest_s: float
    newest_change_ms: int
    truncates: Floors = field(default_factory=dict)
    oldest_orders: Mapping[str, str] = field(default_factory=dict)
    history: int = 0
    renames: Sequence[tuple[Place, Rename]] = ()


def contents_of(changes: DataFrame) -> BatchContents:
    """Return the summary of a batch. `changes` is the result of `parse_events`."""
    groups = _groups(changes)
    read = [group for group in groups if group["emptied"] is None and group["rename"] is None]
    good = [group for group in read if group["problem"] is None and not group["history"]]
    return BatchContents(
        rows=sum(group["rows"] for group in read),
        tables=_tables(good),
        problems=_problems(groups),
        newest_s=max((group["newest"] for group in groups), default=0.0),
        newest_change_ms=max((group["execute_time"] for group in good), default=0),
        truncates=_truncates(groups),
        oldest_orders=_oldest_orders(good),
        history=sum(
            group["rows"] for group in groups if group["history"] and group["problem"] is None
        ),
        renames=_renames(groups),
    )


def _groups(changes: DataFrame) -> Sequence[Row]:
    """Return a row with counts, times and orders for each kind of change, by table and version."""
    names = sf.array_distinct(
        sf.flatten(sf.collect_set(sf.when(sf.col("mysql_types").isNull(), sf.map_keys("data"))))
    ).alias("names")
    return (
        changes.groupBy(
            "table",
            "mysql_types",
            "problem",
            "history",
            _emptied(changes).alias("emptied"),
            _renamed(changes).alias("rename"),
        )
        .agg(
            sf.count("*").alias("rows"),
            names,
            _instances(changes).alias("instances"),
            sf.max_by("key_columns", "order").alias("key_columns"),
            sf.max("order").alias("order"),
            sf.min("order").alias("oldest"),
            sf.max(sf.col("timestamp").cast("double")).alias("newest"),
            sf.max("execute_time").alias("execute_time"),
        )
        .collect()
    )


def _problems(groups: Iterable[Row]) -> Mapping[str, int]:
    problems: dict[str, int] = {}
    for group in groups:
        if group["problem"] is not None:
            problems[group["problem"]] = problems.get(group["problem"], 0) + group["rows"]
    return problems


def _truncates(groups: Iterable[Row]) -> Floors:
    return {
        (group["table"], group["emptied"]): group["order"]
        for group in groups
        if group["emptied"] is not None
    }


def _renames(groups: Iterable[Row]) -> Sequence[tuple[Place, Rename]]:
    renames = {
        ((group["table"], each["real_table"]), Rename(each["order"], each["renamed"]))
        for group in groups
        if (each := group["rename"])
    }
    return sorted(renames)


def _oldest_orders(groups: Iterable[Row]) -> Mapping[str, str]:
    oldest: dict[str, str] = {}
    for group in groups:
        oldest[group["table"]] = min(group["oldest"], oldest.get(group["table"], group["oldest"]))
    return oldest


def _renamed(changes: DataFrame) -> Column:
    """Return the renames of an ALTER TABLE, and its table; null for every other row."""
    if "renamed" not in changes.columns:
        return sf.lit(None).cast("struct<real_table: string, order: string, renamed: string>")
    return sf.when(
        sf.col("renamed").isNotNull() & sf.col("problem").isNull(),
        sf.struct("real_table", "order", "renamed"),
    )


def _instances(changes: DataFrame) -> Column:
    """The instances that published the changes, if the changes contain them."""
    if "instance" not in changes.columns:
        return sf.array().cast("array<string>")
    return sf.collect_set("instance")


def _emptied(changes: DataFrame) -> Column:
    """The real table that a TRUNCATE emptied; null for every other row."""
    if "real_table" not in changes.columns:
        return sf.lit(None).cast("string")
    return sf.when((sf.col("type") == TRUNCATE) & sf.col("problem").isNull(), sf.col("real_table"))


def _tables(groups: Iterable[Row]) -> Mapping[str, TableContents]:
    by_table: dict[str, list[Row]] = {}
    for group in sorted(groups, key=lambda group: str(group["order"])):
        by_table.setdefault(group["table"], []).append(group)
    return {table: _table(versions) for table, versions in by_table.items()}


def _table(groups: Sequence[Row]) -> TableContents:
    """Return the contents of a table. Tombstones are changes, but have no version."""
    told = [
        group for group in groups if group["mysql_types"] is not None or group["names"]
    ] or groups
    versions = [TableSchema.of(group["mysql_types"], group["names"]) for group in told]
    keys = next((group["key_columns"] for group in reversed(groups) if group["key_columns"]), ())
    rows = sum(group["rows"] for group in groups)
    instances = frozenset(name for group in groups for name in group["instances"])
    return TableContents(versions, tuple(keys), told[-1]["order"], rows, instances)

"""What a batch holds, looked through once before anything is applied."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame, Row

from spark_jobs.reduction import TableContents
from spark_jobs.transforms import TableSchema


@dataclass(frozen=True, slots=True)
class BatchContents:
    """`rows`: changes read, those put aside included. `problems`: reason → messages. `newest_s`: time of the newest message, epoch
    seconds. `newest_change_ms`: the greatest execute time."""

    rows: int
    tables: Mapping[str, TableContents]
    problems: Mapping[str, int]
    newest_s: float
    newest_change_ms: int


def contents_of(changes: DataFrame) -> BatchContents:
    """Look through what `parse_events` made of a batch."""
    names = sf.array_distinct(sf.flatten(sf.collect_set(sf.when(sf.col("mysql_types").isNull(), sf.map_keys("data"))))).alias("names")
    groups: Sequence[Row] = (
        changes.groupBy("table", "mysql_types", "problem")
        .agg(
            sf.count("*").alias("rows"),
            names,
            sf.max_by("key_columns", "order").alias("key_columns"),
            sf.max("order").alias("order"),
            sf.max(sf.col("timestamp").cast("double")).alias("newest"),
            sf.max("execute_time").alias("execute_time"),
        )
        .collect()
    )
    problems: dict[str, int] = {}
    for group in groups:
        if group["problem"] is not None:
            problems[group["problem"]] = problems.get(group["problem"], 0) + group["rows"]
    good = [group for group in groups if group["problem"] is None]
    return BatchContents(
        rows=sum(group["rows"] for group in groups),
        tables=_tables(good),
        problems=problems,
        newest_s=max((group["newest"] for group in groups), default=0.0),
        newest_change_ms=max((group["execute_time"] for group in good), default=0),
    )


def _tables(groups: Iterable[Row]) -> Mapping[str, TableContents]:
    by_table: dict[str, list[Row]] = {}
    for group in sorted(groups, key=lambda group: str(group["order"])):
        by_table.setdefault(group["table"], []).append(group)
    return {table: _table(versions) for table, versions in by_table.items()}


def _table(groups: Sequence[Row]) -> TableContents:
    """Tombstones are changes, but tell no version."""
    told = [group for group in groups if group["mysql_types"] is not None or group["names"]] or groups
    versions = [TableSchema.of(group["mysql_types"], group["names"]) for group in told]
    keys = next((group["key_columns"] for group in reversed(groups) if group["key_columns"]), ())
    return TableContents(versions, tuple(keys), told[-1]["order"], sum(group["rows"] for group in groups))

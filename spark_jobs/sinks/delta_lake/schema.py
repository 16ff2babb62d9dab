"""Applies a schema plan to the columns of a Delta table."""

from collections.abc import Iterable, Mapping
from typing import Final
from uuid import uuid4

import pyspark.sql.functions as sf
from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.config.job import DeltaSettings, SchemaPolicy
from spark_jobs.sinks.schema_evolution import SchemaPlan, folded, schema_plan
from spark_jobs.sinks.sink import TableBatch
from spark_jobs.spark_util.identifiers import quoted
from spark_jobs.transforms import ORDER, own_columns, retyped

_MAPPING: Final = "delta.columnMapping.mode"
_NEEDS_MAPPING: Final = frozenset(" ,;{}()\n\t=")
"""Characters that Delta refuses in a column's name without column mapping (source:
`SchemaUtils.checkFieldNames`).
"""
_PROPERTIES: Final = {
    # A DATETIME may come with a later change; files then need no change.
    "delta.feature.timestampNtz": "supported",
    # Each is a Spark job of a second, after every tenth commit by default; between
    # two, a reader puts the commits together.
    "delta.checkpointInterval": "100",
}


def properties_of(columns: Iterable[str], settings: DeltaSettings) -> Mapping[str, str]:
    """Return the table properties of a new copy with these columns.

    They enable only features that the copy needs, because each one excludes some readers.
    """
    mapped = _need_mapping(columns)
    vectors = mapped if settings.deletion_vectors == "auto" else settings.deletion_vectors
    properties = {**_PROPERTIES, "delta.enableDeletionVectors": str(vectors).lower()}
    return {**properties, _MAPPING: "name"} if mapped else properties


def _need_mapping(columns: Iterable[str]) -> bool:
    return any(_NEEDS_MAPPING.intersection(name) for name in columns)


def plan_for(copy: DataFrame, changes: TableBatch, policy: SchemaPolicy) -> SchemaPlan:
    """Return the schema plan that makes a copy fit for a batch of its changes.

    copy     the copy
    changes  the changes
    policy   the configured treatment of changed columns

    Raises SchemaChangeRefused.
    """
    present = own_columns(copy)
    if policy.dropped == "keep" or not changes.columns:
        return schema_plan(changes.table, present, changes.columns, (), policy)
    newest = {folded(name) for name in changes.versions[-1].mysql_types}
    seen = changes.columns
    gone = [name for name in present if folded(name) not in newest]
    if gone or not newest <= set(map(folded, present)):
        # Columns follow the newest change of the table: late older changes neither drop newer
        # columns nor restore dropped ones.
        if _is_news(copy, changes):
            seen = {name: kind for name, kind in seen.items() if folded(name) in newest}
        else:
            gone = []
            known = set(map(folded, present))
            seen = {name: kind for name, kind in seen.items() if folded(name) in known}
    return schema_plan(changes.table, present, seen, gone, policy)


def _is_news(copy: DataFrame, changes: TableBatch) -> bool:
    held = copy.agg(sf.max(ORDER)).collect()[0][0]
    return held is None or changes.newest_order > held


def carry_out(spark: SparkSession, path: str, plan: SchemaPlan) -> bool:
    """Execute a schema plan for the copy at `path`, and return whether anything was changed.

    Each step is one commit; a step that is already done is not repeated.
    """
    table = f"delta.{quoted(path)}"
    if plan.rewritten:
        _rewrite(spark, path, plan)
    if plan.dropped or _need_mapping(plan.added):
        _map_columns(spark, path)
    if plan.added:
        columns = ", ".join(
            f"{quoted(name)} {plan.columns[name].simpleString()}" for name in plan.added
        )
        spark.sql(f"ALTER TABLE {table} ADD COLUMNS ({columns})")
    if plan.widened:
        # Only now: a table that never needed it stays readable for programs without support for it.
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')")
    for name in plan.widened:
        spark.sql(
            f"ALTER TABLE {table} ALTER COLUMN {quoted(name)} TYPE "
            f"{plan.columns[name].simpleString()}"
        )
    if plan.dropped:
        spark.sql(f"ALTER TABLE {table} DROP COLUMNS ({', '.join(map(quoted, plan.dropped))})")
    return bool(plan.rewritten or plan.added or plan.widened or plan.dropped)


def _map_columns(spark: SparkSession, path: str) -> None:
    """Enable column mapping, which some names and DROP COLUMN need.

    It cannot be disabled again.
    """
    properties = DeltaTable.forPath(spark, path).detail().select("properties").collect()[0][0]
    if properties.get(_MAPPING, "none") == "none":
        spark.sql(f"ALTER TABLE delta.{quoted(path)} SET TBLPROPERTIES ('{_MAPPING}' = 'name')")


def _rewrite(spark: SparkSession, path: str, plan: SchemaPlan) -> None:
    """Write the copy again, in one commit, with columns of types that Delta cannot change to by
    itself.
    """
    copy = DeltaTable.forPath(spark, path).toDF()
    held = copy.schema
    changed = {
        name: retyped(sf.col(quoted(name)), held[name].dataType, plan.columns[name])
        for name in plan.rewritten
    }
    rows = copy.select(
        *(changed.get(name, sf.col(quoted(name))).alias(name) for name in copy.columns)
    )
    # A separate name: with the batch's, Delta would treat the batch itself as written.
    once = {"txnAppId": f"schema {uuid4()}", "txnVersion": "0", "overwriteSchema": "true"}
    rows.write.format("delta").mode("overwrite").options(**once).save(path)

"""Renames the columns of one real table's rows, in one commit that identifies the rename."""

from collections.abc import Mapping
from typing import Final

import pyspark.sql.functions as sf
from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import DataType

from spark_jobs.config.job import SchemaPolicy
from spark_jobs.sinks.delta_lake.numbered_commits import numbered_commits
from spark_jobs.sinks.delta_lake.schema import carry_out
from spark_jobs.sinks.delta_lake.transaction import DELTA
from spark_jobs.sinks.schema_evolution import folded, schema_plan
from spark_jobs.spark_util.identifiers import quoted
from spark_jobs.spark_util.jvm import java_class
from spark_jobs.transforms import ORDER, REAL_TABLE, UNFIT, own_columns, retyped

_WRITER: Final = "renamed columns of {}"
_POSITION_AT: Final = 14
"""Where the execute position begins in an order text."""


def rename_columns(
    spark: SparkSession,
    path: str,
    table: str,
    real_table: str,
    order: str,
    names: Mapping[str, str],
    policy: SchemaPolicy,
) -> None:
    """Rename columns in those rows of a real table that are older than the rename, in one commit.

    path        location of the copy
    table       logical table
    real_table  the real table whose columns were renamed
    order       order key of the rename; rows with a smaller order key are older
    names       old name in lower case → new name
    policy      whether a column may get another type

    Columns that the copy lacks for the new names are added before, in separate commits.

    The order key is part of the name of a Delta transaction, so Delta skips a repeated rename. The
    execute position alone would not identify a rename: positions begin at a lower number again
    after the loss of a position record. Raises SchemaChangeRefused if a column would have to get
    the type of another column and the policy does not allow that.
    """
    copy = DeltaTable.forPath(spark, path).toDF()
    if REAL_TABLE not in copy.columns or _is_renamed(spark, path, real_table, order):
        return
    held = _by_name(copy)
    seen = {new: held[old][1] for old, new in names.items() if old in held}
    carry_out(spark, path, schema_plan(table, own_columns(copy), seen, (), policy))
    renamed = DeltaTable.forPath(spark, path)
    values = _values(_by_name(renamed.toDF()), names)
    if not values:
        return
    older = (sf.col(REAL_TABLE) == real_table) & (sf.col(ORDER) < order)
    with numbered_commits(spark, f"{_WRITER.format(real_table)} at {order}", 1):
        renamed.update(older, {**values, UNFIT: _unfit(names)})


def _is_renamed(spark: SparkSession, path: str, real_table: str, order: str) -> bool:
    """Return whether a former release has renamed the rows.

    Its transactions have the execute position as their number.
    """
    log = java_class(spark, f"{DELTA}.DeltaLog").forTable(spark._jsparkSession, path)  # noqa: SLF001 - Delta's log has no other way in
    known = log.unsafeVolatileSnapshot().transactions().get(_WRITER.format(real_table))
    return bool(known.isDefined()) and known.get() == int(order[_POSITION_AT:])


def _by_name(copy: DataFrame) -> Mapping[str, tuple[str, DataType]]:
    """Return the table's columns by their names in lower case: as the copy spells them, with their
    types.
    """
    return {folded(name): (name, kind) for name, kind in own_columns(copy).items()}


def _values(
    held: Mapping[str, tuple[str, DataType]], names: Mapping[str, str]
) -> dict[str, Column]:
    """Return the new value of each column of an older row: that of the column that gets its name.

    Null if no column of the copy does.
    """
    sources = {folded(new): old for old, new in names.items() if old in held}
    values: dict[str, Column] = {}
    for name in {*names, *map(folded, names.values())} & held.keys():
        own, kind = held[name]
        value = sf.lit(None).cast(kind)
        if name in sources:
            source, of_source = held[sources[name]]
            value = retyped(sf.col(quoted(source)), of_source, kind)
        values[quoted(own)] = value
    return values


def _unfit(names: Mapping[str, str]) -> Column:
    """The texts that types cannot hold, by column, under the new names."""
    overwritten = sorted({folded(new) for new in names.values()} - names.keys())
    kept = (
        sf.map_filter(UNFIT, lambda name, _: ~sf.lower(name).isin(*overwritten))
        if overwritten
        else sf.col(UNFIT)
    )
    new = sf.create_map(*(sf.lit(each) for pair in sorted(names.items()) for each in pair))
    found = sf.transform_keys(
        kept, lambda name, _: sf.coalesce(sf.try_element_at(new, sf.lower(name)), name)
    )
    return sf.when(sf.size(found) > 0, found)

"""Computes how the rows of a table are made from changes. The result is cached for all tables and
batches with the same definition.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Final, TypeAlias

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StructType

from spark_jobs.config.job import SchemaPolicy
from spark_jobs.errors import SchemaChangeRefused
from spark_jobs.sinks.delta_lake.java_classes import SOURCES
from spark_jobs.sinks.delta_lake.transaction import JavaObject, OpenCopy
from spark_jobs.sinks.real_tables import with_real_table
from spark_jobs.sinks.schema_evolution import folded, schema_plan
from spark_jobs.sinks.sink import TableBatch
from spark_jobs.spark_util.identifiers import quoted
from spark_jobs.spark_util.jvm import java_class
from spark_jobs.transforms import GUARDS, typed_rows

_Key: TypeAlias = tuple[object, ...]
_EXPRESSIONS: Final = "org.apache.spark.sql.catalyst.expressions"
_PROJECT: Final = "Project"
_KEPT: Final = 5000
"""Number of definitions; each takes some ten kilobytes in the driver."""


class RowShapes:
    """A cache of Java's `RowShape` objects, by the columns of the copy and the definitions in the
    changes.

    `policy` says which columns a batch may add. Several threads use one object. If two of them need
    the same shape at once, each makes it.
    """

    def __init__(self, policy: SchemaPolicy) -> None:
        self._policy = policy
        self._known: dict[_Key, JavaObject | None] = {}

    def of(self, changes: TableBatch, form: StructType, copy: OpenCopy) -> JavaObject | None:
        """Return the shape of a table's rows; None if the copy's columns must be changed before.

        changes  the changes of the table
        form     the columns of `changes.changes`
        copy     the copy, opened
        """
        text = copy.transaction.metadata().schemaString()
        versions = tuple((each.text, tuple(each.mysql_types)) for each in changes.versions)
        key = (text, versions, changes.style, form)
        with suppress(KeyError):
            return self._known[key]
        shape = self._made(changes, form, copy, _columns(text))
        if len(self._known) >= _KEPT:
            self._known.clear()
        self._known[key] = shape
        return shape

    def _made(
        self, changes: TableBatch, form: StructType, copy: OpenCopy, held: Mapping[str, DataType]
    ) -> JavaObject | None:
        columns = self._unchanged(changes, held)
        if columns is None:
            return None
        typed = typed_rows(_nothing(copy.spark, form), changes.versions, columns, changes.style)
        rows = with_real_table(typed, held)
        if {field.name: field.dataType for field in rows.schema} != held:
            return None
        return _shape(rows.select(*map(quoted, held)), copy)

    def _unchanged(
        self, changes: TableBatch, held: Mapping[str, DataType]
    ) -> Mapping[str, DataType] | None:
        """Return the copy's own columns; None if the changes need others."""
        present = {name: kind for name, kind in held.items() if name not in GUARDS}
        newest = {folded(name) for name in changes.versions[-1].mysql_types}
        follows = self._policy.dropped != "keep" and changes.columns
        if follows and newest != set(map(folded, present)):
            return None
        try:
            plan = schema_plan(changes.table, present, changes.columns, (), self._policy)
        except SchemaChangeRefused:
            return None
        return None if plan.added or plan.widened or plan.rewritten else plan.columns


@lru_cache(_KEPT)
def _columns(text: str) -> Mapping[str, DataType]:
    return {field.name: field.dataType for field in StructType.fromJson(json.loads(text))}


def _nothing(spark: SparkSession, form: StructType) -> DataFrame:
    """Return a DataFrame without rows whose columns Spark does not optimise away."""
    context = spark.sparkContext._jsc  # noqa: SLF001
    columns = java_class(spark, "org.apache.spark.sql.types.DataType").fromJson(form.json())
    return DataFrame(spark._jsparkSession.createDataFrame(context.emptyRDD(), columns), spark)  # noqa: SLF001


def _shape(rows: DataFrame, copy: OpenCopy) -> JavaObject | None:
    transaction = copy.transaction
    query = rows._jdf.queryExecution()  # noqa: SLF001
    tracker = transaction.getOptionalStatsTrackerAndStatsCollection(
        query.analyzed().output(),
        copy.log.dataPath(),
        transaction.metadata().partitionSchema(),
        rows._jdf,  # noqa: SLF001
    ).productElement(0)
    steps = _projections(copy, query.optimizedPlan())
    if tracker.isEmpty() or not steps:
        return None
    return SOURCES.made(
        copy.spark, "RowShape", transaction.metadata().schema(), steps, tracker.get()
    )


def _projections(copy: OpenCopy, plan: JavaObject) -> list[JavaObject]:
    """Return the expressions of each projection of a plan, the innermost first, with numbers
    instead of names of columns; none if the plan has other steps too.
    """
    found: list[JavaObject] = []
    bind = copy.java(f"{_EXPRESSIONS}.BindReferences").bindReferences
    while plan.nodeName() == _PROJECT:
        below = plan.children().apply(0)
        columns = copy.java(f"{_EXPRESSIONS}.package$AttributeSeq")(below.output())
        found.insert(0, bind(plan.projectList(), columns))
        plan = below
    return [] if plan.children().size() else found

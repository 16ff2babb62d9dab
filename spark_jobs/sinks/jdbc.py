"""Copies in a MySQL or MariaDB server. Rows are written many at a time, by statements that compare
the order keys.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import pyspark.sql.functions as sf
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import (
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from spark_jobs.config.job import SchemaPolicy
from spark_jobs.config.mysql import MirrorSettings
from spark_jobs.mysql.column_types import mirror_type
from spark_jobs.mysql.server import Server
from spark_jobs.mysql.statements import (
    GUARD_TYPES,
    alter_table,
    create_database,
    create_table,
    forget,
    pieces,
    place_of,
)
from spark_jobs.mysql.task import read_piece, write_rows
from spark_jobs.sinks.parallel import together
from spark_jobs.sinks.schema_evolution import schema_plan
from spark_jobs.sinks.sink import ReducedBatch, TableBatch, Written
from spark_jobs.spark_util.identifiers import quoted
from spark_jobs.transforms import DELETED, GUARDS, REAL_TABLE, UNFIT, WHOLE_ROW_GUARDS, spark_type

_STORED: Final = (StringType(), StringType(), LongType(), LongType(), IntegerType(), StringType())
_GUARDS: Final = tuple(
    StructField(name, kind) for name, kind in zip(WHOLE_ROW_GUARDS, _STORED, strict=True)
)
_UNFIT_TYPE: Final = "map<string,string>"
_COLUMNS: Final = (
    "SELECT column_name, column_type FROM information_schema.columns WHERE table_schema = %s AND "
    "table_name = %s ORDER BY ordinal_position"
)
_TABLES: Final = (
    "SELECT table_schema, table_name FROM information_schema.columns WHERE column_name = "
    "'_key_hash' AND LEFT(table_schema, %s) = %s"
)


class JdbcSink:
    """The copies in a MySQL or MariaDB server: one table `<prefix><database>.<table>` for each
    logical table.

    A table has typed columns and the guards. A delete keeps the row, marked as deleted. At most
    `threads` tables are written at the same time. If the source drops a column, the copy keeps the
    column; it is NULL in rows that change afterwards.
    """

    def __init__(
        self,
        spark: SparkSession,
        settings: MirrorSettings,
        threads: int = 1,
        policy: SchemaPolicy | None = None,
    ) -> None:
        self._spark = spark
        self._settings = settings
        self._threads = threads
        self._policy = policy or SchemaPolicy()

    def write(self, batch: ReducedBatch) -> Mapping[str, Written]:
        """Write the changes of every table; several tables are written in parallel. Return table →
        counts.
        """
        return together(self._spark, self._write, batch, self._threads)

    def read(self, table: str) -> DataFrame | None:
        """Return the rows of a table's copy, deleted ones included; None if there is no copy."""
        with Server(self._settings) as server:
            columns = self._present(server, table)
        if columns is None:
            return None
        ranges = list(pieces(max(2, self._settings.writers)))
        read = partial(
            read_piece, self._settings, place_of(table, self._settings.prefix), list(columns)
        )
        stored = self._spark.sparkContext.parallelize(ranges, len(ranges)).flatMap(read)
        schema = StructType(
            [*_GUARDS, *(StructField(name, _from_python(kind)) for name, kind in columns.items())]
        )
        rows = self._spark.createDataFrame(stored, schema, verifySchema=False)
        return rows.select(
            *_guards_back(),
            *(sf.col(quoted(name)).cast(kind).alias(name) for name, kind in columns.items()),
        )

    def tables(self) -> Sequence[str]:
        """Return the logical tables that have a copy on the server. A table is a copy if the name
        of its database has the prefix of the settings and it has a column `_key_hash`.
        """
        prefix = self._settings.prefix
        with Server(self._settings) as server:
            found = server.run(_TABLES, (len(prefix), prefix))
        return sorted(f"{database.removeprefix(prefix)}.{name}" for database, name in found)

    def forget_deletes(self, before_ms: int, _writer: str, /) -> None:
        """Remove rows that were deleted with an execute time below `before_ms`, table by table."""
        with Server(self._settings) as server:
            for table in self.tables():
                server.run(
                    forget(place_of(table, self._settings.prefix)), (before_ms,), bounded=False
                )

    def tidy(self) -> None:
        """Do nothing: the server needs no maintenance."""

    def _write(self, changes: TableBatch) -> Written:
        columns = self._prepared(changes)
        rows = _own_rows(changes, columns).select(
            *_guards_out(), *(_to_python(name, kind) for name, kind in columns.items())
        )
        write = partial(
            write_rows,
            self._settings,
            place_of(changes.table, self._settings.prefix),
            list(columns),
        )
        spread = (
            rows
            if rows.rdd.getNumPartitions() <= self._settings.writers
            else rows.coalesce(self._settings.writers)
        )
        return Written(sum(spread.rdd.mapPartitions(write).collect()))

    def _prepared(self, changes: TableBatch) -> Mapping[str, DataType]:
        """Make the table, or give it the columns that it lacks; return its columns."""
        place = place_of(changes.table, self._settings.prefix)
        with Server(self._settings) as server:
            present = self._present(server, changes.table)
            guards: Mapping[str, DataType] = (
                {REAL_TABLE: StringType()} if "real_table" in changes.changes.columns else {}
            )
            if present is None:
                server.run(create_database(self._settings.prefix + changes.table.partition(".")[0]))
                server.run(
                    create_table(
                        place,
                        {
                            name: mirror_type(kind)
                            for name, kind in {**guards, **changes.columns}.items()
                        },
                    )
                )
                present = self._present(server, changes.table) or {}
            held = {name: kind for name, kind in present.items() if name in GUARDS}
            own = {name: kind for name, kind in present.items() if name not in GUARDS}
            plan = schema_plan(changes.table, own, changes.columns, (), self._policy)
            added = {name: mirror_type(kind) for name, kind in guards.items() if name not in held}
            added |= {name: mirror_type(plan.columns[name]) for name in plan.added}
            retyped = {
                name: mirror_type(plan.columns[name]) for name in (*plan.widened, *plan.rewritten)
            }
            if added or retyped:
                server.run(alter_table(place, added, retyped), bounded=False)
        return {**held, **guards, **plan.columns}

    def _present(self, server: Server, table: str) -> dict[str, DataType] | None:
        """Return the columns other than the guards; None if there is no table."""
        database, _, name = table.partition(".")
        found = server.run(_COLUMNS, (self._settings.prefix + database, name))
        return (
            {column: spark_type(kind) for column, kind in found if column not in GUARD_TYPES}
            if found
            else None
        )


def _own_rows(changes: TableBatch, columns: Mapping[str, DataType]) -> DataFrame:
    """Return the rows with these columns.

    A guard among them is that of the change, null if the change has none.
    """
    rows = changes.rows_as({name: kind for name, kind in columns.items() if name not in GUARDS})
    missing = {
        name: sf.lit(None).cast(kind)
        for name, kind in columns.items()
        if name in GUARDS and name not in rows.columns
    }
    return rows.withColumns(missing) if missing else rows


def _guards_out() -> list[Column]:
    return [
        *(sf.col(name) for name in WHOLE_ROW_GUARDS if name != UNFIT),
        sf.to_json(UNFIT).alias(UNFIT),
    ]


def _guards_back() -> list[Column]:
    plain = [sf.col(name) for name in WHOLE_ROW_GUARDS if name not in (UNFIT, DELETED)]
    return [
        *plain,
        sf.col(DELETED).cast("boolean").alias(DELETED),
        sf.from_json(UNFIT, _UNFIT_TYPE).alias(UNFIT),
    ]


def _to_python(name: str, kind: DataType) -> Column:
    """Return a time by the UTC clock. Python would convert it to the local time zone."""
    column = sf.col(quoted(name))
    return (column.cast("timestamp_ntz") if isinstance(kind, TimestampType) else column).alias(name)


def _from_python(kind: DataType) -> DataType:
    return TimestampNTZType() if isinstance(kind, TimestampType) else kind

"""The columns of a copy: those it has, and those that the changes bring.

MySQL and Spark both take `Name` and `name` for one column, the JSON of a message does not.
"""

from collections.abc import Iterable, Mapping, Sequence

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame

from spark_jobs.transforms.guards import DELETED, EXECUTE_POSITION, EXECUTE_TIME, GUARDS, KEY, ORDER


def columns_of_copy(present: Iterable[str], seen: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """Return column → the spellings under which changes may hold it; the copy's own spelling stays."""
    columns = {name.lower(): (name, [name]) for name in present if name not in GUARDS}
    for name in sorted(seen):
        _, spellings = columns.setdefault(name.lower(), (name, []))
        if name not in spellings:
            spellings.append(name)
    return dict(columns.values())


def as_rows(changes: DataFrame, columns: Mapping[str, Sequence[str]]) -> DataFrame:
    """Return the changes in the shape of the copy: guards, then columns as text.

    A column that a change does not hold is null: the table had no such column when the change was made.
    """
    guards = (
        sf.col("key").alias(KEY),
        sf.col("order").alias(ORDER),
        sf.col("execute_time").alias(EXECUTE_TIME),
        sf.col("execute_position").alias(EXECUTE_POSITION),
        sf.col("deleted").alias(DELETED),
    )
    values = (sf.coalesce(*(sf.col("data").getItem(spelling) for spelling in spellings)).alias(name) for name, spellings in columns.items())
    return changes.select(*guards, *values)

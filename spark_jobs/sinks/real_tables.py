"""The column `_real_table` of copies that follow TRUNCATEs: it names the real table of each row."""

from collections.abc import Collection

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame

from spark_jobs.transforms import REAL_TABLE


def with_real_table(rows: DataFrame, columns: Collection[str]) -> DataFrame:
    """Return the rows with the column `_real_table` if `columns`, those of the copy, contain it.

    The column is NULL in a row whose message names no real table. Without the column in `rows`, an
    update would keep the former real table of the copy's row.
    """
    if REAL_TABLE in rows.columns or REAL_TABLE not in columns:
        return rows
    return rows.withColumn(REAL_TABLE, sf.lit(None).cast("string"))

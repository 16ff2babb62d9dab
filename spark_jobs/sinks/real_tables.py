"""The column `_real_table` of copies that follow TRUNCATEs: it names the real table of each row."""

from collections.abc import Collection

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame

from spark_jobs.transforms import REAL_TABLE


def with_real_table(rows: DataFrame, columns: Collection[str]) -> DataFrame:
    """Return the rows with the column `_real_table` if the copy's columns contain it. It is NULL in
    rows without a real table.

    Otherwise an update would keep the real table of the former row.
    """
    if REAL_TABLE in rows.columns or REAL_TABLE not in columns:
        return rows
    return rows.withColumn(REAL_TABLE, sf.lit(None).cast("string"))

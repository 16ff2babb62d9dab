"""The guard `_real_table` of copies that follow TRUNCATEs."""

import pyspark.sql.functions as sf
from pyspark.sql import DataFrame

from spark_jobs.transforms import REAL_TABLE


def with_real_table(rows: DataFrame, copy: DataFrame) -> DataFrame:
    """Return the rows with a real table if the copy has that guard: a row without one must not
    keep the former row's.
    """
    if REAL_TABLE in rows.columns or REAL_TABLE not in copy.columns:
        return rows
    return rows.withColumn(REAL_TABLE, sf.lit(None).cast("string"))

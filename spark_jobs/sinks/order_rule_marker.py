"""The rule of the copies below a root: orders of different rules cannot be compared."""

from typing import Final

from pyspark.sql import SparkSession

from spark_jobs.config.job import JobSettings
from spark_jobs.errors import CopiesKeptOtherwise
from spark_jobs.sinks.hadoop import read_text, write_text

_FILE: Final = "_kept"
_REAL_TABLES: Final = ", with the real table of each row (truncate = 'follow')"


def check_rule(spark: SparkSession, settings: JobSettings) -> None:
    """Record the rule beside the first copies below `copy_root`. Raises CopiesKeptOtherwise if
    another one is recorded. Copies may start to store real tables: older rows have none, which
    is reported at a TRUNCATE. They may not stop: a changed row would keep its former real table.
    """
    file = f"{settings.copy_root.rstrip('/')}/{_FILE}"
    rule = rule_of(settings)
    noted = read_text(spark, file)
    if not noted or rule == noted + _REAL_TABLES:
        write_text(spark, file, rule)
    elif noted != rule:
        raise CopiesKeptOtherwise(
            f"{settings.copy_root}: the copies are kept {noted}, and the job would keep them "
            f"{rule}."
        )


def rule_of(settings: JobSettings) -> str:
    """Return the order rule that the marker names."""
    if settings.raw_rule:
        return "by binlog offsets (raw_rule = true)"
    if settings.row_images == "merge":
        return "column by column (row_images = 'merge')"
    return f"row by row{_REAL_TABLES}" if settings.truncate == "follow" else "row by row"

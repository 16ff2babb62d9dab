"""The rule by which the copies below a root are kept: orders of two rules say nothing of each
other.
"""

from typing import Any, Final

from pyspark.sql import SparkSession

from spark_jobs.config.job import JobSettings
from spark_jobs.errors import CopiesKeptOtherwise
from spark_jobs.sinks.hadoop import hadoop_configuration, hadoop_path
from spark_jobs.spark_util.jvm import java_class

_FILE: Final = "_kept"
_ENCODING: Final = "UTF-8"
_REAL_TABLES: Final = ", with the real table of each row (truncate = 'follow')"


def check_rule(spark: SparkSession, settings: JobSettings) -> None:
    """Note the rule beside the first copies below `copy_root`.

    Raises CopiesKeptOtherwise where another one is noted.

    Copies may begin to keep real tables: rows of before name none, which is told when a TRUNCATE
    meets them. They may not cease to: a changed row would keep the real table of the row before.
    """
    file = hadoop_path(spark, f"{settings.copy_root.rstrip('/')}/{_FILE}")
    system = file.getFileSystem(hadoop_configuration(spark))
    rule = rule_of(settings)
    noted = _read(spark, system, file)
    if not noted or rule == noted + _REAL_TABLES:
        _write(system, file, rule)
    elif noted != rule:
        raise CopiesKeptOtherwise(
            f"{settings.copy_root}: the copies are kept {noted}, and the job would keep them "
            f"{rule}."
        )


def rule_of(settings: JobSettings) -> str:
    """Return the rule as it is noted."""
    if settings.raw_rule:
        return "by binlog offsets (raw_rule = true)"
    if settings.row_images == "merge":
        return "column by column (row_images = 'merge')"
    return f"row by row{_REAL_TABLES}" if settings.truncate == "follow" else "row by row"


def _read(spark: SparkSession, system: Any, file: Any) -> str:
    """Return what is noted, "" where nothing is, or a crash left nothing of it."""
    if not system.exists(file):
        return ""
    stream = system.open(file)
    try:
        return str(java_class(spark, "org.apache.commons.io.IOUtils").toString(stream, _ENCODING))
    finally:
        stream.close()


def _write(system: Any, file: Any, rule: str) -> None:
    stream = system.create(file, True)
    try:
        stream.write(bytearray(rule, _ENCODING))
    finally:
        stream.close()

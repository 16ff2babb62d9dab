"""The rule by which the copies below a root are kept: orders of two rules say nothing of each other."""

from typing import Any, Final

from pyspark.sql import SparkSession

from spark_jobs.errors import CopiesKeptOtherwise
from spark_jobs.java import java_class
from spark_jobs.settings import JobSettings
from spark_jobs.sinks.hadoop import hadoop_configuration, hadoop_path

_FILE: Final = "_kept"
_ENCODING: Final = "UTF-8"


def check_rule(spark: SparkSession, settings: JobSettings) -> None:
    """Note the rule beside the first copies below `copy_root`. Raises CopiesKeptOtherwise where another one is noted."""
    file = hadoop_path(spark, f"{settings.copy_root.rstrip('/')}/{_FILE}")
    system = file.getFileSystem(hadoop_configuration(spark))
    rule = rule_of(settings)
    noted = _read(spark, system, file)
    if not noted:
        _write(system, file, rule)
    elif noted != rule:
        raise CopiesKeptOtherwise(f"{settings.copy_root}: the copies are kept {noted}, and the job would keep them {rule}.")


def rule_of(settings: JobSettings) -> str:
    """Return the rule as it is noted."""
    if settings.raw_rule:
        return "by binlog offsets (raw_rule = true)"
    return "column by column (row_images = 'merge')" if settings.row_images == "merge" else "row by row"


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

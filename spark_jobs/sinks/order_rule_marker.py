"""Records the order rule of the copies below a root: by which value they decide which change is
newer. Values of different rules cannot be compared.
"""

from typing import Final

from pyspark.sql import SparkSession

from spark_jobs.config.job import JobSettings
from spark_jobs.errors import CopiesKeptOtherwise
from spark_jobs.sinks.hadoop import read_text, write_text

_FILE: Final = "_kept"
_REAL_TABLES: Final = ", with the real table of each row (truncate = 'follow')"


def check_rule(spark: SparkSession, settings: JobSettings) -> None:
    """Check that the copies below `copy_root` have the order rule of the settings. If no rule is
    recorded there yet, record that of the settings.

    Raises CopiesKeptOtherwise if another rule is recorded. One change is allowed: copies may begin
    to store real tables. Their older rows then have no real table, and a TRUNCATE that may concern
    such rows is reported as a problem. Copies may not stop storing real tables, because a changed
    row would keep its former real table.
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
    """Return the name of the order rule that the settings require, as text for the marker and
    messages.
    """
    if settings.raw_rule:
        return "by binlog offsets (raw_rule = true)"
    if settings.row_images == "merge":
        return "column by column (row_images = 'merge')"
    return f"row by row{_REAL_TABLES}" if settings.truncate == "follow" else "row by row"

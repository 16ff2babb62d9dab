"""Copies existing tables for the first time, range by range, while the stream runs. It records the
progress in files (notes).

At the end it removes rows that were deleted at the source in the meantime.
"""

from spark_jobs.first_copy.alterations import alterations
from spark_jobs.first_copy.begin import begin
from spark_jobs.first_copy.copy_run import CopyFigures, FirstCopy
from spark_jobs.first_copy.notes import Notes, TableNote, begin_line
from spark_jobs.first_copy.rate_limit import Pace
from spark_jobs.first_copy.run_positions import RunPositions
from spark_jobs.first_copy.shape import check_definition
from spark_jobs.first_copy.table_report import TableReport, TableState

__all__ = [
    "CopyFigures",
    "FirstCopy",
    "Notes",
    "Pace",
    "RunPositions",
    "TableNote",
    "TableReport",
    "TableState",
    "alterations",
    "begin",
    "begin_line",
    "check_definition",
]

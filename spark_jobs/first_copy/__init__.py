"""The first copy of existing tables: range after range beside the running stream, noted, and at the
end freed of what is gone.
"""

from spark_jobs.first_copy.begin import begin
from spark_jobs.first_copy.copy_run import CopyFigures, FirstCopy
from spark_jobs.first_copy.notes import Notes, TableNote, begin_line
from spark_jobs.first_copy.rate_limit import Pace
from spark_jobs.first_copy.shape import check_definition

__all__ = [
    "CopyFigures",
    "FirstCopy",
    "Notes",
    "Pace",
    "TableNote",
    "begin",
    "begin_line",
    "check_definition",
]

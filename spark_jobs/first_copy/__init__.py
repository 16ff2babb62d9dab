"""The first copy of existing tables: range after range beside the running stream, noted, and at the end freed of what is gone."""

from spark_jobs.first_copy.copy_run import CopyFigures, FirstCopy
from spark_jobs.first_copy.notes import Notes, TableNote, begin_line
from spark_jobs.first_copy.pace import Pace
from spark_jobs.first_copy.shape import shape_of

__all__ = ["CopyFigures", "FirstCopy", "Notes", "Pace", "TableNote", "begin_line", "shape_of"]

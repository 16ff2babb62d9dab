"""Stores the time of the last maintenance of the copies below a root, in a file with a number of
seconds.
"""

from time import time
from typing import Final

from pyspark.sql import SparkSession

from spark_jobs.sinks.hadoop import read_text, write_text

_FILE: Final = "_upkeep"


class UpkeepTime:
    """The time of the last maintenance, by the clock of the job's machine."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._spark = spark
        self._path = f"{root.rstrip('/')}/{_FILE}"

    def age_seconds(self) -> float:
        """Return the seconds since the last maintenance; 0 at the first call, which stores the
        present time.

        A stored time in the future counts as now.
        """
        try:
            return max(time() - float(read_text(self._spark, self._path)), 0.0)
        except ValueError:  # no file, or one that a crash left empty
            self.note()
            return 0.0

    def note(self) -> None:
        """Store the present time as the time of the last maintenance."""
        write_text(self._spark, self._path, f"{time():.0f}")

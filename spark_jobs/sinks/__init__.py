"""Where copies are kept."""

from spark_jobs.sinks.delta import DeltaCopies, live_rows

__all__ = ["DeltaCopies", "live_rows"]

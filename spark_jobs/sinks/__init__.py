"""Where copies are kept."""

from spark_jobs.sinks.delta import DeltaHistory, DeltaSink, live_rows
from spark_jobs.sinks.kept import check_rule
from spark_jobs.sinks.opening import open_sink, place_of_copies
from spark_jobs.sinks.sink import ReducedBatch, Sink, TableChanges, Written
from spark_jobs.sinks.writers import check_writers

__all__ = [
    "DeltaHistory",
    "DeltaSink",
    "ReducedBatch",
    "Sink",
    "TableChanges",
    "Written",
    "check_rule",
    "check_writers",
    "live_rows",
    "open_sink",
    "place_of_copies",
]

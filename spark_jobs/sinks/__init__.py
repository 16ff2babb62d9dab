"""Where copies are kept."""

from spark_jobs.sinks.delta import DeltaHistory, DeltaSink, live_rows
from spark_jobs.sinks.opening import open_sink, place_of_copies
from spark_jobs.sinks.sink import ReducedBatch, Sink, TableChanges, Written

__all__ = ["DeltaHistory", "DeltaSink", "ReducedBatch", "Sink", "TableChanges", "Written", "live_rows", "open_sink", "place_of_copies"]

"""The sinks: each module keeps copies of tables in one kind of store."""

from spark_jobs.sinks.delta_lake.sink import DeltaHistory, DeltaSink, live_rows
from spark_jobs.sinks.order_rule_marker import check_rule
from spark_jobs.sinks.sink import ReducedBatch, Sink, TableBatch, Written
from spark_jobs.sinks.sink_choice import open_sink, place_of_copies
from spark_jobs.sinks.writer_exclusion import check_writers

__all__ = [
    "DeltaHistory",
    "DeltaSink",
    "ReducedBatch",
    "Sink",
    "TableBatch",
    "Written",
    "check_rule",
    "check_writers",
    "live_rows",
    "open_sink",
    "place_of_copies",
]

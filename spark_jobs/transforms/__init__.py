"""Converts messages into the newest change for each key and into typed rows, without side
effects.
"""

from spark_jobs.transforms.guards import (
    COLUMN_ORDERS,
    DELETED,
    EXECUTE_POSITION,
    EXECUTE_TIME,
    GUARDS,
    KEY,
    ORDER,
    REAL_TABLE,
    RESET_ORDER,
    UNFIT,
    WHOLE_ROW_GUARDS,
    own_columns,
)
from spark_jobs.transforms.latest_by_key import ARRIVAL, latest_by_key
from spark_jobs.transforms.merged_by_key import merged_by_key
from spark_jobs.transforms.mysql_types import spark_type, widest
from spark_jobs.transforms.parse_events import Reader, parse_events, rekeyed_rows, with_pair
from spark_jobs.transforms.problems import NO_SOURCE, OTHER_FORMAT, TOO_LATE, TRUNCATE
from spark_jobs.transforms.table_schema import TableSchema, column_types, spellings
from spark_jobs.transforms.typed_rows import Style, retyped, typed_rows

__all__ = [
    "ARRIVAL",
    "COLUMN_ORDERS",
    "DELETED",
    "EXECUTE_POSITION",
    "EXECUTE_TIME",
    "GUARDS",
    "KEY",
    "NO_SOURCE",
    "ORDER",
    "OTHER_FORMAT",
    "REAL_TABLE",
    "RESET_ORDER",
    "TOO_LATE",
    "TRUNCATE",
    "UNFIT",
    "WHOLE_ROW_GUARDS",
    "Reader",
    "Style",
    "TableSchema",
    "column_types",
    "latest_by_key",
    "merged_by_key",
    "own_columns",
    "parse_events",
    "rekeyed_rows",
    "retyped",
    "spark_type",
    "spellings",
    "typed_rows",
    "widest",
    "with_pair",
]

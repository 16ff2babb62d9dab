"""Pure steps from messages to the newest change per key."""

from spark_jobs.transforms.columns import as_rows, columns_of_copy
from spark_jobs.transforms.guards import DELETED, GUARDS, KEY, ORDER
from spark_jobs.transforms.latest_by_key import latest_by_key
from spark_jobs.transforms.parse_events import parse_events

__all__ = ["DELETED", "GUARDS", "KEY", "ORDER", "as_rows", "columns_of_copy", "latest_by_key", "parse_events"]

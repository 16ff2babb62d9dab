"""Pure steps from messages to the newest change per key."""

from spark_jobs.transforms.latest_by_key import latest_by_key
from spark_jobs.transforms.parse_events import parse_events

__all__ = ["latest_by_key", "parse_events"]

"""Reads the tables of the sources over JDBC: names, key ranges, and values as text."""

from relay.model.source_rows.columns import SourceColumn
from relay.model.source_rows.key_range import KeyRange
from relay.model.source_rows.texts import key_equals, literal
from spark_jobs.origin.catalog import described_now, read_shards
from spark_jobs.origin.database import SourceDatabase, source_borders
from spark_jobs.origin.estimate import estimated_rows
from spark_jobs.origin.key_ranges import next_boundary, ranges_of
from spark_jobs.origin.rows import key_text, message_keys, message_rows, published_keys
from spark_jobs.origin.shard import Shard
from spark_jobs.origin.source_coordinates import SourceCoordinates, coordinates_now, covered, shows

__all__ = [
    "KeyRange",
    "Shard",
    "SourceColumn",
    "SourceCoordinates",
    "SourceDatabase",
    "coordinates_now",
    "covered",
    "described_now",
    "estimated_rows",
    "key_equals",
    "key_text",
    "literal",
    "message_keys",
    "message_rows",
    "next_boundary",
    "published_keys",
    "ranges_of",
    "read_shards",
    "shows",
    "source_borders",
]

"""The tables of the sources, read over JDBC: which there are, their key ranges, and their values as text."""

from spark_jobs.source.catalog import read_shards
from spark_jobs.source.columns import SourceColumn
from spark_jobs.source.database import SourceDatabase, source_borders
from spark_jobs.source.key_ranges import KeyRange, next_boundary, ranges_of
from spark_jobs.source.place import SourcePlace, covered, place_now
from spark_jobs.source.rows import key_text, message_keys, message_rows, published_keys
from spark_jobs.source.shard import Shard
from spark_jobs.source.texts import key_equals, literal

__all__ = [
    "KeyRange",
    "Shard",
    "SourceColumn",
    "SourceDatabase",
    "SourcePlace",
    "covered",
    "key_equals",
    "key_text",
    "literal",
    "message_keys",
    "message_rows",
    "next_boundary",
    "place_now",
    "published_keys",
    "ranges_of",
    "read_shards",
    "source_borders",
]

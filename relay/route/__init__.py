"""Routing: decides whether a real table is published, and under which logical name, to which topics
and with which tags.

The publisher routes rows with it; the admin checks and previews mappings with it.
"""

from relay.route.edits.diff import ChangeKind, RouteChange, changes, left_out_of_report, where
from relay.route.edits.table_moves import (
    EarlyReturn,
    TableMove,
    early_returns,
    has_topic,
    table_arrivals,
    table_moves,
)
from relay.route.effort import MOST_STEPS, Effort
from relay.route.filter import TableFilter
from relay.route.known_topics import known_topics
from relay.route.mapping import MappingSet, Tags
from relay.route.mapping_check import problems
from relay.route.mapping_document import (
    DATA_IDS,
    DBS,
    ROMA_GROUP,
    TAGS,
    TBS,
    TOPICS,
    Documents,
    MappingProblem,
    RepeatedKey,
    once_each,
)
from relay.route.mapping_files import read_mapping_files
from relay.route.router import (
    UNMAPPED,
    Destination,
    Dropped,
    Route,
    Router,
    field_tags_for,
    tags_for,
)
from relay.route.text_locations import TextLocation, TextLocations

__all__ = [
    "DATA_IDS",
    "DBS",
    "MOST_STEPS",
    "ROMA_GROUP",
    "TAGS",
    "TBS",
    "TOPICS",
    "UNMAPPED",
    "ChangeKind",
    "Destination",
    "Documents",
    "Dropped",
    "EarlyReturn",
    "Effort",
    "MappingProblem",
    "MappingSet",
    "RepeatedKey",
    "Route",
    "RouteChange",
    "Router",
    "TableFilter",
    "TableMove",
    "Tags",
    "TextLocation",
    "TextLocations",
    "changes",
    "early_returns",
    "field_tags_for",
    "has_topic",
    "known_topics",
    "left_out_of_report",
    "once_each",
    "problems",
    "read_mapping_files",
    "table_arrivals",
    "table_moves",
    "tags_for",
    "where",
]

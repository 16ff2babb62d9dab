"""Reads the binlog of one server as a replica does, and returns it as items of source
transactions.
"""

from relay.source.binlog_retention import NEVER_PURGED, kept_seconds
from relay.source.chunks import LOAD_SECONDS, ChunkConnection, Low, ReadChunk
from relay.source.events.binlog_event import Scanner
from relay.source.events.rolled_back_rows import ExcludedRange
from relay.source.opening import check_start, open_source
from relay.source.positions.binlog_range import binlog_items
from relay.source.positions.by_gtid.standby_proof import ProvenPosition, proven_position
from relay.source.positions.digest_search import LandmarkReport, SearchStart, find_landmark
from relay.source.positions.initial_position import position_of_time
from relay.source.positions.named_position import (
    TransactionPosition,
    binlog_file_created_s,
    transaction_position,
    transaction_position_of,
)
from relay.source.positions.statement_scan import (
    ask_server_facts,
    beginning_of_binlog,
    end_of_binlog,
    statements_between,
)
from relay.source.positions.time_fallback import boundary_before
from relay.source.positions.transaction_read_ahead import find_rolled_back
from relay.source.protocol.heartbeat import ServerWatch
from relay.source.protocol.replica_id import free_replica_id
from relay.source.protocol.row_packets import Cells
from relay.source.protocol.server_facts import ServerFacts
from relay.source.protocol.visibility import VISIBLE_SECONDS, Visibility
from relay.source.server_checks import SourceCheck, check_source
from relay.source.stream import SourceStream

__all__ = [
    "LOAD_SECONDS",
    "NEVER_PURGED",
    "VISIBLE_SECONDS",
    "Cells",
    "ChunkConnection",
    "ExcludedRange",
    "LandmarkReport",
    "Low",
    "ProvenPosition",
    "ReadChunk",
    "Scanner",
    "SearchStart",
    "ServerFacts",
    "ServerWatch",
    "SourceCheck",
    "SourceStream",
    "TransactionPosition",
    "Visibility",
    "ask_server_facts",
    "beginning_of_binlog",
    "binlog_file_created_s",
    "binlog_items",
    "boundary_before",
    "check_source",
    "check_start",
    "end_of_binlog",
    "find_landmark",
    "find_rolled_back",
    "free_replica_id",
    "kept_seconds",
    "open_source",
    "position_of_time",
    "proven_position",
    "statements_between",
    "transaction_position",
    "transaction_position_of",
]

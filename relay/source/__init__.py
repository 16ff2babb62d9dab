"""Reads the binlog of one server as a replica does, and hands it out as items of source transactions."""

from relay.source.binlog_event import Scanner
from relay.source.checks import SourceCheck, check_source
from relay.source.digest_search import PlaceReport, SearchStart, look_for_published
from relay.source.fallback import place_before
from relay.source.fresh_start import place_of_time
from relay.source.opening import check_start, open_source
from relay.source.place import TransactionPlace, transaction_place
from relay.source.server_facts import ServerFacts
from relay.source.server_watch import ServerWatch
from relay.source.standby import ProvenPlace, proven_place
from relay.source.statements import ask_server_facts, beginning_of_binlog, end_of_binlog, statements_between
from relay.source.stream import SourceStream
from relay.source.transaction_assembler import ExcludedRange

__all__ = [
    "ExcludedRange",
    "PlaceReport",
    "ProvenPlace",
    "Scanner",
    "SearchStart",
    "ServerFacts",
    "ServerWatch",
    "SourceCheck",
    "SourceStream",
    "TransactionPlace",
    "ask_server_facts",
    "beginning_of_binlog",
    "check_source",
    "check_start",
    "end_of_binlog",
    "look_for_published",
    "open_source",
    "place_before",
    "place_of_time",
    "proven_place",
    "statements_between",
    "transaction_place",
]

"""Converts row changes and statements into keys, values and headers of messages. Pure: no clock, no
network.

The publisher calls it for the rows that compiled code does not print.
"""

from relay.encode.formats import (
    CanalJson,
    CloudEvents,
    DebeziumJson,
    EventRows,
    MaxwellJson,
    MessageFormat,
    RowsEncoder,
    StatementFacts,
    without_number,
)
from relay.encode.frame import NO_COORDINATES, EventCoordinates, MessageFrame, NumberOf, RowNumber
from relay.encode.headers import (
    Membership,
    Origin,
    headers_behind_order,
    message_headers,
    packed_headers,
    tag_headers,
)
from relay.encode.key import KeyEncoder, has_longer_key, key_changed, split_update
from relay.encode.partial_images import completed, lacking_columns, unknown_headers
from relay.encode.partition_texts import PartitionTexts
from relay.encode.row_encoder import EventEncoder, RowEncoder, operation_of
from relay.encode.row_history import RowHistory, as_history
from relay.encode.statement_encoder import encode_statement
from relay.encode.texts.hashed_form import hashed_form
from relay.encode.texts.key_text import refuse_undecodable, whole_text
from relay.encode.texts.named_bytes import named_bytes
from relay.encode.texts.server_numbers import fixed_decimals, json_number
from relay.encode.texts.text_exact import exact_text

__all__ = [
    "NO_COORDINATES",
    "CanalJson",
    "CloudEvents",
    "DebeziumJson",
    "EventCoordinates",
    "EventEncoder",
    "EventRows",
    "KeyEncoder",
    "MaxwellJson",
    "Membership",
    "MessageFormat",
    "MessageFrame",
    "NumberOf",
    "Origin",
    "PartitionTexts",
    "RowEncoder",
    "RowHistory",
    "RowNumber",
    "RowsEncoder",
    "StatementFacts",
    "as_history",
    "completed",
    "encode_statement",
    "exact_text",
    "fixed_decimals",
    "has_longer_key",
    "hashed_form",
    "headers_behind_order",
    "json_number",
    "key_changed",
    "lacking_columns",
    "message_headers",
    "named_bytes",
    "operation_of",
    "packed_headers",
    "refuse_undecodable",
    "split_update",
    "tag_headers",
    "unknown_headers",
    "whole_text",
    "without_number",
]

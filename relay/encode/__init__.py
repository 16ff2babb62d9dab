"""Row changes and statements → the bytes of messages. Pure: no clock, no network."""

from relay.encode.frame import MessageFrame
from relay.encode.headers import (
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
from relay.encode.texts.key_text import refuse_undecodable
from relay.encode.texts.named_bytes import named_bytes
from relay.encode.texts.server_numbers import fixed_decimals
from relay.encode.texts.text_exact import exact_text

__all__ = [
    "EventEncoder",
    "KeyEncoder",
    "MessageFrame",
    "Origin",
    "PartitionTexts",
    "RowEncoder",
    "RowHistory",
    "as_history",
    "completed",
    "encode_statement",
    "exact_text",
    "fixed_decimals",
    "has_longer_key",
    "headers_behind_order",
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
]

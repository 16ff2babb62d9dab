"""Row changes and statements → the bytes of messages. Pure: no clock, no network."""

from relay.encode.charsets import byte_characters, is_utf8
from relay.encode.frame import MessageFrame
from relay.encode.headers import Origin, headers_behind_order, message_headers, packed_headers, tag_headers
from relay.encode.key import KeyEncoder, key_changed, split_update
from relay.encode.partition_texts import PartitionTexts
from relay.encode.row_encoder import EventEncoder, RowEncoder, operation_of
from relay.encode.server_numbers import fixed_decimals
from relay.encode.statement_encoder import encode_statement
from relay.encode.text_exact import exact_text

__all__ = [
    "EventEncoder",
    "KeyEncoder",
    "MessageFrame",
    "Origin",
    "PartitionTexts",
    "RowEncoder",
    "byte_characters",
    "encode_statement",
    "exact_text",
    "fixed_decimals",
    "headers_behind_order",
    "is_utf8",
    "key_changed",
    "message_headers",
    "operation_of",
    "packed_headers",
    "split_update",
    "tag_headers",
]

"""Row changes and statements → the bytes of messages. Pure: no clock, no network."""

from relay.encode.frame import MessageFrame
from relay.encode.headers import Origin, headers_behind_order, message_headers, packed_headers, tag_headers
from relay.encode.key import KeyEncoder, key_changed, split_update
from relay.encode.named_bytes import named_bytes
from relay.encode.partial_images import completed, lacks_columns, unknown_headers
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
    "completed",
    "encode_statement",
    "exact_text",
    "fixed_decimals",
    "headers_behind_order",
    "key_changed",
    "lacks_columns",
    "message_headers",
    "named_bytes",
    "operation_of",
    "packed_headers",
    "split_update",
    "tag_headers",
    "unknown_headers",
]

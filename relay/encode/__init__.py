"""Row changes and statements → the bytes of messages. Pure: no clock, no network."""

from relay.encode.frame import MessageFrame
from relay.encode.headers import Origin, message_headers, packed_headers, tag_headers
from relay.encode.key import KeyEncoder, key_changed, split_update
from relay.encode.partition_texts import PartitionTexts
from relay.encode.row_encoder import EventEncoder, RowEncoder, operation_of
from relay.encode.statement_encoder import encode_statement

__all__ = [
    "EventEncoder",
    "KeyEncoder",
    "MessageFrame",
    "Origin",
    "PartitionTexts",
    "RowEncoder",
    "encode_statement",
    "key_changed",
    "message_headers",
    "operation_of",
    "packed_headers",
    "split_update",
    "tag_headers",
]

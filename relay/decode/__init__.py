"""Decodes row events as the server logged them into rows of typed values. The reading thread calls
`RowDecoder`.
"""

from relay.decode.column_types import Fixed, Prefixed, Storage, Unpacked, storage_of
from relay.decode.row_decoder import LazyRows, RowDecoder
from relay.decode.table_map import parse_table_map
from relay.decode.values.malformed import Malformed

__all__ = [
    "Fixed",
    "LazyRows",
    "Malformed",
    "Prefixed",
    "RowDecoder",
    "Storage",
    "Unpacked",
    "parse_table_map",
    "storage_of",
]

"""Row events as the server logged them → rows of typed values."""

from relay.decode.column_types import Fixed, Prefixed, Storage, Unpacked, storage_of
from relay.decode.malformed import Malformed
from relay.decode.row_decoder import RowDecoder
from relay.decode.table_map import parse_table_map

__all__ = ["Fixed", "Malformed", "Prefixed", "RowDecoder", "Storage", "Unpacked", "parse_table_map", "storage_of"]

"""Row events as the server logged them → rows of typed values."""

from relay.decode.row_decoder import RowDecoder
from relay.decode.table_map import parse_table_map

__all__ = ["RowDecoder", "parse_table_map"]

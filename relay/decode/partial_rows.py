"""Reads PARTIAL_UPDATE_ROWS: updates whose images after contain changes of JSON documents instead
of the documents.

Each image after has options before it (length-encoded). With option 1 a bit for each JSON column
follows: if it is set, the value of the column is a list of changes (MySQL source:
sql/rpl_record.h).
"""

from dataclasses import replace
from typing import Final

from relay.bounded_cache import BoundedCache
from relay.decode.image_reader import ImageReader
from relay.decode.values.cursor import Cursor
from relay.decode.values.json_diff import patched
from relay.decode.values.malformed import Malformed
from relay.model.table import ColumnType, TableMap
from relay.model.value import ABSENT, JsonDocument, Row, Value

_PARTIAL_JSON: Final = 1
_FORMS_CACHED: Final = 64


class PartialImages:
    """Reads the images after of one table. `present` is the bitmap of its logged columns."""

    __slots__ = ("_json", "_present", "_readers", "_table")

    def __init__(self, table: TableMap, present: bytes) -> None:
        self._table = table
        self._present = present
        self._json = [
            ordinal
            for ordinal, column in enumerate(table.columns)
            if column.type is ColumnType.JSON
        ]
        self._readers: BoundedCache[bytes, ImageReader] = BoundedCache(_FORMS_CACHED)

    def read(self, body: bytes, pos: int, before: Row) -> tuple[Row, int]:
        """Return (row, position after it). `before` is the row before the update.

        If a document before is unknown, the document after is unknown too.
        """
        cursor = Cursor(body, pos)
        options = cursor.lenenc("the options of a partial update")
        if options & ~_PARTIAL_JSON:
            raise Malformed(f"the options {options} of a partial update are unknown")
        bits = (
            cursor.take((len(self._json) + 7) // 8, "the bits of partial columns")
            if options
            else b""
        )
        row, pos = self._reader(bits).read(body, cursor.pos)
        if pos > len(body):
            raise Malformed(
                f"a partial update ends {pos - len(body)} bytes after the end of the event"
            )
        partial = set(self._partial(bits))
        return tuple(
            _whole(before[i], value) if i in partial else value for i, value in enumerate(row)
        ), pos

    def _partial(self, bits: bytes) -> list[int]:
        return [
            ordinal
            for number, ordinal in enumerate(self._json)
            if number < 8 * len(bits) and bits[number >> 3] >> (number & 7) & 1
        ]

    def _reader(self, bits: bytes) -> ImageReader:
        reader = self._readers.get(bits)
        if reader is None:
            reader = ImageReader(self._with_bytes(self._partial(bits)), self._present)
            self._readers.put(bits, reader)
        return reader

    def _with_bytes(self, ordinals: list[int]) -> TableMap:
        """Return the table with these columns as bytes, which have the same length prefix."""
        columns = list(self._table.columns)
        for ordinal in ordinals:
            columns[ordinal] = replace(columns[ordinal], type=ColumnType.BLOB)
        return replace(self._table, columns=tuple(columns))


def _whole(before: Value, changes: Value) -> Value:
    if before is ABSENT or not isinstance(changes, bytes):
        return ABSENT if isinstance(changes, bytes) else changes
    if not isinstance(before, JsonDocument):
        raise Malformed("a JSON document that was NULL is updated in part")
    return patched(before, changes)

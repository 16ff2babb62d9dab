"""Reads row events of one table version: the head of an event, and the images after it."""

import struct
from typing import Final, NamedTuple

from relay.bounded_cache import BoundedCache
from relay.decode.image_reader import ImageReader
from relay.decode.partial_rows import PartialImages
from relay.decode.table_map import TABLE_ID_AND_FLAGS_BYTES
from relay.decode.values.cursor import Cursor
from relay.decode.values.malformed import Malformed
from relay.errors import CorruptEvent, RowImageIncomplete, SchemaMismatch
from relay.model import event_types as types
from relay.model.change import Operation, RawRows, RowChange
from relay.model.table import TableMap
from relay.model.value import Row

# Largest number of cached column bitmaps of a table. Only MINIMAL images have more than two.
IMAGES_CACHED: Final = 256


class EventKind(NamedTuple):
    """The contents of a type of row event.

    has_extra   extra data comes before the images (version 2)
    is_partial  images after an update may contain changes of JSON documents
    """

    operation: Operation
    has_extra: bool
    is_partial: bool = False


EVENT_KINDS: Final = {
    types.WRITE_ROWS_V1: EventKind(Operation.INSERT, has_extra=False),
    types.UPDATE_ROWS_V1: EventKind(Operation.UPDATE, has_extra=False),
    types.DELETE_ROWS_V1: EventKind(Operation.DELETE, has_extra=False),
    types.WRITE_ROWS: EventKind(Operation.INSERT, has_extra=True),
    types.UPDATE_ROWS: EventKind(Operation.UPDATE, has_extra=True),
    types.DELETE_ROWS: EventKind(Operation.DELETE, has_extra=True),
    types.PARTIAL_UPDATE_ROWS: EventKind(Operation.UPDATE, has_extra=True, is_partial=True),
}


class EventHead(NamedTuple):
    """The fields between the table number and the images.

    first      reads the first image of a row
    second     reads the second image of an update, the row after it; None for other operations
    images_at  offset of the images in the body
    is_whole   each image contains every column, and whole values
    partial    reads second images that contain changes of JSON documents instead of whole values;
               None if the event has no such images
    """

    first: ImageReader
    second: ImageReader | None
    images_at: int
    is_whole: bool
    partial: PartialImages | None = None


_NO_HEAD: Final[tuple[bytes, EventHead | None]] = (b"", None)
_EXTRA_LENGTH_BYTES: Final = 2


class TableRows:
    """One table version, with the readers that were generated for it so far."""

    __slots__ = ("_images", "_last", "map")

    def __init__(self, table: TableMap) -> None:
        self.map = table
        self._images: BoundedCache[bytes, ImageReader] = BoundedCache(IMAGES_CACHED)
        self._last: dict[int, tuple[bytes, EventHead]] = {}

    def head(self, raw: RawRows, kind: EventKind) -> "EventHead":
        """Return the head before the images.

        If its bytes equal those of the last event of this type, the parsed head is used again.
        """
        text, head = self._last.get(raw.type_code, _NO_HEAD)
        if head is None or not raw.body.startswith(text, TABLE_ID_AND_FLAGS_BYTES):
            head = self._read_head(raw, kind)
            self._last[raw.type_code] = (raw.body[TABLE_ID_AND_FLAGS_BYTES : head.images_at], head)
        return head

    def _read_head(self, raw: RawRows, kind: EventKind) -> "EventHead":
        try:
            cursor = Cursor(raw.body)
            cursor.take(TABLE_ID_AND_FLAGS_BYTES, "table id and flags")
            if kind.has_extra:
                _skip_extra(cursor)
            self._check_width(cursor.lenenc("the column count"), raw)
            first = self._image(cursor)
            second_at = cursor.pos
            second = self._image(cursor) if kind.operation is Operation.UPDATE else None
        except Malformed as exc:
            raise self._corrupt(raw, exc) from exc
        if first.is_empty and (second is None or second.is_empty):
            raise RowImageIncomplete(
                f"A row event of {self.map.id} at {raw.position} logs none of its columns."
            )
        if kind.is_partial:
            return EventHead(
                first,
                second,
                cursor.pos,
                False,
                PartialImages(self.map, raw.body[second_at : cursor.pos]),
            )
        return EventHead(
            first, second, cursor.pos, first.is_whole and (second is None or second.is_whole)
        )

    def rows(self, raw: RawRows, kind: EventKind, head: "EventHead") -> list[RowChange]:
        """Return the rows of the event's body."""
        try:
            if head.partial is not None:
                return _partial_changes(raw.body, head.images_at, head.first, head.partial)
            return _changes(raw.body, head.images_at, kind.operation, head.first, head.second)
        except Malformed as exc:
            raise self._corrupt(raw, exc) from exc

    def _corrupt(self, raw: RawRows, exc: Malformed) -> CorruptEvent:
        return CorruptEvent(f"A row event of {self.map.id} at {raw.position} is damaged: {exc}.")

    def _check_width(self, count: int, raw: RawRows) -> None:
        if count != len(self.map.columns):
            raise SchemaMismatch(
                f"A row event at {raw.position} has {count} columns, the table map of "
                f"{self.map.id} has {len(self.map.columns)}.",
                remedy=(
                    "Check the binlog with mysqlbinlog at these coordinates; such events cannot be "
                    "read without guessing."
                ),
            )

    def _image(self, cursor: Cursor) -> ImageReader:
        present = cursor.take((len(self.map.columns) + 7) // 8, "the bitmap of logged columns")
        image = self._images.get(present)
        if image is None:
            image = ImageReader(self.map, present)
            self._images.put(present, image)
        return image


def _changes(
    body: bytes, pos: int, operation: Operation, first: ImageReader, second: ImageReader | None
) -> list[RowChange]:
    """Return one change for each row; an update has two images."""
    changes: list[RowChange] = []
    end = len(body)
    while pos < end:
        try:
            row, pos = first.read(body, pos)
            after: Row | None = None
            if second is not None:
                after, pos = second.read(body, pos)
        except (Malformed, IndexError, struct.error) as exc:
            raise _damaged(exc, len(changes), first, second) from exc
        if pos > end:
            raise Malformed(
                f"row {len(changes) + 1} ends {pos - end} bytes after the end of the event"
            )
        changes.append(
            RowChange(None, row) if operation is Operation.INSERT else RowChange(row, after)
        )
    return changes


def _partial_changes(
    body: bytes, pos: int, first: ImageReader, partial: PartialImages
) -> list[RowChange]:
    changes: list[RowChange] = []
    while pos < len(body):
        try:
            before, pos = first.read(body, pos)
            after, pos = partial.read(body, pos, before)
        except (Malformed, IndexError, struct.error) as exc:
            raise _damaged(exc, len(changes), first, None) from exc
        changes.append(RowChange(before, after))
    return changes


def _damaged(
    exc: Exception, rows_read: int, first: ImageReader, second: ImageReader | None
) -> Malformed:
    column = first.column_at(exc.__traceback__) or (second and second.column_at(exc.__traceback__))
    what = str(exc) if isinstance(exc, Malformed) else "it holds no such value, or ends too early"
    return Malformed(f"row {rows_read + 1}{f', column {column.name}' if column else ''}: {what}")


def _skip_extra(cursor: Cursor) -> None:
    """Skip the extra data of a version 2 event (partition numbers, NDB). Its length includes the
    length field.
    """
    length = cursor.unsigned(_EXTRA_LENGTH_BYTES, "the length of the extra data")
    if length < _EXTRA_LENGTH_BYTES:
        raise Malformed(f"the extra data declares {length} bytes")
    cursor.take(length - _EXTRA_LENGTH_BYTES, "the extra data")

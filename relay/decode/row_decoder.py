"""Row events → rows: finds the table's readers, walks over the event, and refuses everything that
does not add up.
"""

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, overload

from relay.decode.image_reader import ImageReader
from relay.decode.partial_rows import PartialImages
from relay.decode.table_map import TABLE_ID_AND_FLAGS_BYTES, parse_table_map
from relay.decode.values.bounded_cache import BoundedCache
from relay.decode.values.cursor import Cursor
from relay.decode.values.malformed import Malformed
from relay.errors import CorruptEvent, RowImageIncomplete, SchemaMismatch, UnsupportedEvent
from relay.model.change import Operation, RawRows, RowChange, RowsEvent
from relay.model.table import Column, TableMap
from relay.model.value import Row

# Table versions kept ready.
TABLES_CACHED: Final = 10_000
# Forms of tables whose columns are shared: shards of one table are alike.
FORMS_CACHED: Final = 1_000
# Sets of logged columns kept ready per table; only MINIMAL images have more than one or two.
IMAGES_CACHED: Final = 256


class _EventKind(NamedTuple):
    operation: Operation
    has_extra: bool
    is_partial: bool = False


_EVENT_KINDS: Final = {
    23: _EventKind(Operation.INSERT, has_extra=False),
    24: _EventKind(Operation.UPDATE, has_extra=False),
    25: _EventKind(Operation.DELETE, has_extra=False),
    30: _EventKind(Operation.INSERT, has_extra=True),
    31: _EventKind(Operation.UPDATE, has_extra=True),
    32: _EventKind(Operation.DELETE, has_extra=True),
    39: _EventKind(Operation.UPDATE, has_extra=True, is_partial=True),
}


class _EventHead(NamedTuple):
    """What stands between the table's number and the images.

    `is_whole`: each image holds every column, and whole values.

    `partial` reads images after whose documents are changes.
    """

    first: ImageReader
    second: ImageReader | None
    images_at: int
    is_whole: bool
    partial: PartialImages | None = None


_NO_HEAD: Final[tuple[bytes, _EventHead | None]] = (b"", None)
_EXTRA_LENGTH_BYTES: Final = 2


class LazyRows(Sequence[RowChange]):
    """The rows of one event, decoded once, when they are first looked at."""

    __slots__ = ("_head", "_kind", "_raw", "_rows", "_table")

    def __init__(
        self, table: "_TableRows", raw: RawRows, kind: _EventKind, head: _EventHead
    ) -> None:
        self._table = table
        self._raw = raw
        self._kind = kind
        self._head = head
        self._rows: list[RowChange] | None = None

    @property
    def raw(self) -> RawRows:
        """The event as the server logged it."""
        return self._raw

    def __len__(self) -> int:
        return len(self._decoded())

    @overload
    def __getitem__(self, index: int) -> RowChange: ...
    @overload
    def __getitem__(self, index: slice) -> list[RowChange]: ...
    def __getitem__(self, index: int | slice) -> RowChange | list[RowChange]:
        return self._decoded()[index]

    def __iter__(self) -> Iterator[RowChange]:
        return iter(self._decoded())

    def __eq__(self, other: object) -> bool:
        return self._decoded() == (list(other) if isinstance(other, Sequence) else other)

    __hash__ = None  # type: ignore[assignment]  # rows hold lists of JSON

    def _decoded(self) -> list[RowChange]:
        if self._rows is None:
            self._rows = self._table.rows(self._raw, self._kind, self._head)
        return self._rows


class RowDecoder:
    """Turns row events into rows.

    Remembers the tables that it has met, and is used by one thread at a time.

    `complete` knows the names of tables whose maps carry none.
    """

    def __init__(
        self,
        tables_cached: int = TABLES_CACHED,
        complete: Callable[[TableMap], TableMap] | None = None,
    ) -> None:
        self._complete = complete
        self._tables_cached = tables_cached
        self._tables: BoundedCache[tuple[bytes, bool], _TableRows] = BoundedCache(tables_cached)
        self._forms: BoundedCache[tuple[Column, ...], tuple[Column, ...]] = BoundedCache(
            FORMS_CACHED
        )
        self._last: tuple[tuple[bytes, bool], _TableRows | None] = ((b"", False), None)

    def forget(self) -> None:
        """A table map may mean another table from now on."""
        self._tables = BoundedCache(self._tables_cached)
        self._last = ((b"", False), None)

    def decode(self, raw: RawRows) -> RowsEvent:
        """Return every row of one event, in binlog order.

        Raises CorruptEvent for bytes that contradict themselves, SchemaMismatch where event and
        table map count different columns, UnsupportedEvent for what only a newer server writes, and
        RowImageIncomplete for an image that holds no column at all (the number of its rows cannot
        be told).
        """
        event = self.open(raw)
        len(event.rows)
        return event

    def open(self, raw: RawRows) -> RowsEvent:
        """Return the event with rows that are decoded when they are first looked at.

        What is wrong with its head is raised here.
        """
        kind = _EVENT_KINDS.get(raw.type_code)
        if kind is None:
            raise _unsupported(raw)
        table = self._table(raw)
        head = table.head(raw, kind)
        rows = LazyRows(table, raw, kind, head)
        images_at = head.images_at if head.is_whole else None
        # By position: one is made for every event, and names cost as much again.
        return RowsEvent(
            kind.operation,
            table.map,
            rows,
            raw.header_time_s,
            raw.position,
            len(raw.body),
            raw.body,
            images_at,
        )

    def _table(self, raw: RawRows) -> "_TableRows":
        # The number of a table changes whenever the server opens it anew; the rest says whether it
        # is the same table.
        key = (raw.table_map[TABLE_ID_AND_FLAGS_BYTES:], raw.mariadb)
        last_key, last = self._last
        if last is not None and key == last_key:
            return last
        table = self._tables.get(key)
        if table is None:
            parsed = parse_table_map(raw.table_map, mariadb=raw.mariadb)
            if parsed.unknown and self._complete is not None:
                parsed = self._complete(parsed)
            table = _TableRows(self._of_known_form(parsed))
            self._tables.put(key, table)
        self._last = (key, table)
        return table

    def _of_known_form(self, table: TableMap) -> TableMap:
        """Return the same table with the columns of another one that has the same."""
        columns = self._forms.get(table.columns)
        if columns is None:
            self._forms.put(table.columns, table.columns)
            return table
        return replace(table, columns=columns)


class _TableRows:
    """One table version and the readers written for it so far."""

    __slots__ = ("_images", "_last", "map")

    def __init__(self, table: TableMap) -> None:
        self.map = table
        self._images: BoundedCache[bytes, ImageReader] = BoundedCache(IMAGES_CACHED)
        self._last: dict[int, tuple[bytes, _EventHead]] = {}

    def head(self, raw: RawRows, kind: _EventKind) -> "_EventHead":
        """Read what stands before the images.

        The same bytes as in the last event of this type mean the same.
        """
        text, head = self._last.get(raw.type_code, _NO_HEAD)
        if head is None or not raw.body.startswith(text, TABLE_ID_AND_FLAGS_BYTES):
            head = self._read_head(raw, kind)
            self._last[raw.type_code] = (raw.body[TABLE_ID_AND_FLAGS_BYTES : head.images_at], head)
        return head

    def _read_head(self, raw: RawRows, kind: _EventKind) -> "_EventHead":
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
            return _EventHead(
                first,
                second,
                cursor.pos,
                False,
                PartialImages(self.map, raw.body[second_at : cursor.pos]),
            )
        return _EventHead(
            first, second, cursor.pos, first.is_whole and (second is None or second.is_whole)
        )

    def rows(self, raw: RawRows, kind: _EventKind, head: "_EventHead") -> list[RowChange]:
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
                    "Check the binlog with mysqlbinlog at the place named; such events cannot be "
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
    """Return one change per row (per pair of rows for an update)."""
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
            raise Malformed(f"row {len(changes) + 1} ends {pos - end} bytes behind the event")
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
    """Step over the extra data of a v2 event (partition numbers, NDB); its length counts itself."""
    length = cursor.unsigned(_EXTRA_LENGTH_BYTES, "the length of the extra data")
    if length < _EXTRA_LENGTH_BYTES:
        raise Malformed(f"the extra data claims {length} bytes")
    cursor.take(length - _EXTRA_LENGTH_BYTES, "the extra data")


def _unsupported(raw: RawRows) -> UnsupportedEvent:
    return UnsupportedEvent(
        f"The row event at {raw.position} has the type {raw.type_code}.",
        remedy="Upgrade the relay.",
    )

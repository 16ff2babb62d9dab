"""Decodes row events: finds the table version of each event, and the readers of that version.

`table_rows` reads the event itself.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, overload

from relay.bounded_cache import BoundedCache
from relay.decode.table_map import TABLE_ID_AND_FLAGS_BYTES, parse_table_map
from relay.decode.table_rows import EVENT_KINDS, EventHead, EventKind, TableRows
from relay.errors import UnsupportedEvent
from relay.model.change import RawRows, RowChange, RowsEvent
from relay.model.table import Column, TableMap

# Largest number of cached table versions.
TABLES_CACHED: Final = 10_000
# Largest number of cached column lists. Shards of one table have equal columns and share one list.
FORMS_CACHED: Final = 1_000


class LazyRows(Sequence[RowChange]):
    """The rows of one event. They are decoded once, at the first access, which may raise the errors
    of `RowDecoder.decode`.
    """

    __slots__ = ("_head", "_kind", "_raw", "_rows", "_table")

    def __init__(self, table: "TableRows", raw: RawRows, kind: EventKind, head: EventHead) -> None:
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
    """Decodes row events. It caches table versions, and is used by one thread at a time.

    `complete` adds column names to table maps that have none.
    """

    def __init__(
        self,
        tables_cached: int = TABLES_CACHED,
        complete: Callable[[TableMap], TableMap] | None = None,
    ) -> None:
        self._complete = complete
        self._tables_cached = tables_cached
        self._tables: BoundedCache[tuple[bytes, bool], TableRows] = BoundedCache(tables_cached)
        self._forms: BoundedCache[tuple[Column, ...], tuple[Column, ...]] = BoundedCache(
            FORMS_CACHED
        )
        self._last: tuple[tuple[bytes, bool], TableRows | None] = ((b"", False), None)

    def forget(self) -> None:
        """Drop the cached tables: from now on, `complete` may add other column names to an equal
        table map.
        """
        self._tables = BoundedCache(self._tables_cached)
        self._last = ((b"", False), None)

    def decode(self, raw: RawRows) -> RowsEvent:
        """Return all rows of one event, in binlog order.

        Raises:
        CorruptEvent        bytes contradict themselves
        SchemaMismatch      event and table map have different numbers of columns
        UnsupportedEvent    the event has a feature of newer servers
        RowImageIncomplete  the images have no column, so the number of rows is unknown
        """
        event = self.open(raw)
        len(event.rows)
        return event

    def open(self, raw: RawRows) -> RowsEvent:
        """Return the event with rows that are decoded at the first access.

        Errors in the head of the event are raised here.
        """
        kind = EVENT_KINDS.get(raw.type_code)
        if kind is None:
            raise _unsupported(raw)
        table = self._table(raw)
        head = table.head(raw, kind)
        rows = LazyRows(table, raw, kind, head)
        images_at = head.images_at if head.is_whole else None
        # Positional arguments: this runs for every event, and keywords would double its time.
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

    def _table(self, raw: RawRows) -> "TableRows":
        # The table number changes whenever the server opens the table again. The other bytes
        # identify the table.
        key = (raw.table_map[TABLE_ID_AND_FLAGS_BYTES:], raw.mariadb)
        last_key, last = self._last
        if last is not None and key == last_key:
            return last
        table = self._tables.get(key)
        if table is None:
            parsed = parse_table_map(raw.table_map, mariadb=raw.mariadb)
            if parsed.unknown and self._complete is not None:
                parsed = self._complete(parsed)
            table = TableRows(self._of_known_form(parsed))
            self._tables.put(key, table)
        self._last = (key, table)
        return table

    def _of_known_form(self, table: TableMap) -> TableMap:
        """Return the table with the column list of a cached table if both are equal."""
        columns = self._forms.get(table.columns)
        if columns is None:
            self._forms.put(table.columns, table.columns)
            return table
        return replace(table, columns=columns)


def _unsupported(raw: RawRows) -> UnsupportedEvent:
    return UnsupportedEvent(
        f"The row event at {raw.position} has the type {raw.type_code}.",
        remedy="Upgrade the relay.",
    )

"""Builds the SELECT that reads one chunk of a copied table, and decides how many rows it reads."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from relay.errors import SnapshotRefused, Unreachable
from relay.model.names.quoted_name import quoted
from relay.model.records.position_record import PositionRecord
from relay.model.source_rows.condition import condition_problem
from relay.model.source_rows.key_range import Boundary, KeyRange
from relay.model.source_rows.texts import boundary_text, key_expression
from relay.model.table import TableId
from relay.pipeline.copying.copy_waits import CopyWait, decide_by_source_load
from relay.pipeline.copying.key_types import TableChanged, read_by_these
from relay.pipeline.copying.named_keys import keys_condition
from relay.schema import CopiedTable
from relay.settings import CopyingSettings
from relay.source import ChunkConnection, Low, ReadChunk
from relay.state import SnapshotRequest

MOST_ROWS: Final = 1000
"""Largest number of rows of a chunk. The stream waits tens of milliseconds while they are printed.
"""
MOST_PRINTED_ROWS: Final = 4000
"""Largest number of rows of a chunk if compiled code prints them."""
FIRST_ROWS: Final = 100
SEARCHED_PER_ROW: Final = 100
"""For each row that a chunk with a condition may have, this many rows of the table are searched."""
MOST_TIMEOUTS: Final = 6
"""After this many unanswered reads of a chunk, each with half as many rows as the one before, its
table is refused.
"""
MOST_MOVES: Final = 4
"""After this many new beginnings of a table, each because its rows moved, the table is refused."""
_WEIGHED_ROWS: Final = 50
_TARGET_BYTES: Final = 4 << 20
"""Bytes of a chunk as the server sends them."""


def chunk_condition(where: str, keys: str) -> str:
    """Return the SQL condition that selects the rows of a copy request; "" for all rows. It
    combines the request's condition `where` with `keys`, the condition that selects its named keys.

    Raises SnapshotRefused for a condition that could read something other than rows of the table.
    """
    if problem := condition_problem(where):
        raise SnapshotRefused(f"The condition is refused: {problem}.")
    return " AND ".join(f"({each})" for each in (where, keys) if each)


def chunk_select(
    table: CopiedTable, after: Boundary, condition: str, rows: int, until: Boundary = ()
) -> str:
    """Return the SELECT that reads one chunk of a table.

    table      the table
    after      the key after which the chunk begins; (): the beginning of the table
    condition  SQL condition on the rows; "": all rows
    rows       largest number of rows
    until      the last key that the chunk may contain; (): the end of the table

    Each result row has the table's columns, then the texts of the row's key, from which the next
    chunk continues.
    """
    columns = ", ".join([*table.columns, *map(boundary_text, table.key)])
    name = ".".join(map(quoted, table.map.id))
    where = KeyRange(after or None, until or None).where(table.key)
    asked = f"({where}) AND ({condition})" if condition else where
    order = ", ".join(map(key_expression, table.key))
    return f"SELECT {columns} FROM {name} WHERE {asked} ORDER BY {order} LIMIT {rows}"  # noqa: S608 - names are quoted


def low_mark(record: PositionRecord) -> Low:
    """Return the low watermark of a chunk, which is the position up to which the instance has
    published when the chunk is read.
    """
    source, last = record.source, record.source.last
    begin = None if last is None else last.begin
    return Low(source.identity.server, source.gtid_set, begin, source.binlog)


def read_chunk(
    table: CopiedTable,
    request: SnapshotRequest,
    after: Boundary,
    rows: int,
    low: Low,
    limits: CopyingSettings,
    *,
    shard_in_keys: bool = False,
) -> Callable[[ChunkConnection], ReadChunk | CopyWait | TableChanged | None]:
    """Return a function that reads the next rows of a copy request.

    table          the table
    request        the request, whose condition and keys select rows
    after          the key after which the rows begin
    rows           largest number of rows to return
    low            the position up to which the instance has published
    limits         the settings that make a copy wait
    shard_in_keys  keys begin with the real table

    The function returns the chunk. If the source is too busy, it returns a CopyWait instead; if the
    columns changed meanwhile, TableChanged. If SELECTs on the source server do not yet show all
    changes up to `low`, it returns None. With a condition in the request, it searches a bounded
    number of rows, so that the server answers in time. Raises SnapshotRefused for a condition or
    key that is not allowed.
    """
    keys = keys_condition(table, request.keys, shard_in_keys=shard_in_keys)
    condition = chunk_condition(request.where, keys)
    bounded = bool(request.where) and not request.keys

    def ask(connection: ChunkConnection) -> ReadChunk | CopyWait | TableChanged | None:
        if limits.threads_running:
            wait = decide_by_source_load(limits, connection.threads_running())
            if wait is not None:
                return wait
        until = _bound(connection, table, after, rows) if bounded else ()
        found = connection.read(low, chunk_select(table, after, condition, rows, until))
        if found is not None and not read_by_these(table, connection):
            return TableChanged()
        return None if found is None else replace(found, until=until)

    return ask


def _bound(connection: ChunkConnection, table: CopiedTable, after: Boundary, rows: int) -> Boundary:
    """Return the last key of the next rows to search; () if the table ends before.

    This key and the rows of the chunk may be read in different snapshots: in any snapshot, each row
    has a key up to this one or after it.
    """
    found = connection.rows(bound_select(table, after, SEARCHED_PER_ROW * rows))
    return tuple(_text(cell) for cell in found[0]) if found else ()


def bound_select(table: CopiedTable, after: Boundary, searched: int) -> str:
    """Return the SELECT that finds the key at a distance of `searched` rows after the key `after`.

    The SELECT has no result if fewer rows of the table follow.
    """
    columns = ", ".join(map(boundary_text, table.key))
    name = ".".join(map(quoted, table.map.id))
    where = KeyRange(after or None).where(table.key)
    order = ", ".join(map(key_expression, table.key))
    return (
        f"SELECT {columns} FROM {name} WHERE {where} ORDER BY {order} "  # noqa: S608 - names are quoted
        f"LIMIT {searched - 1}, 1"
    )


def _text(cell: object) -> str:
    return cell.decode("ascii") if isinstance(cell, bytes) else str(cell)


def is_last(chunk: ReadChunk, limit: int) -> bool:
    """Return whether the table has no rows after this chunk. `limit` is the LIMIT with which it was
    read.
    """
    return len(chunk.rows) < limit and not chunk.until


def end_of(table: CopiedTable, chunk: ReadChunk, limit: int) -> Boundary:
    """Return the key after which the next chunk begins. `limit` is the LIMIT with which this chunk
    was read.
    """
    return chunk.until if len(chunk.rows) < limit else last_key(table, chunk)


def last_key(table: CopiedTable, chunk: ReadChunk) -> Boundary:
    """Return the texts of the key of a chunk's last row; () if the chunk is empty."""
    if not chunk.rows:
        return ()
    texts = chunk.rows[-1][len(table.columns) :]
    return tuple((text or b"").decode("ascii") for text in texts)


def size_bytes(chunk: ReadChunk) -> int:
    """Return the estimated size of a chunk's values in bytes, from a sample of its rows."""
    some = chunk.rows[:: max(1, len(chunk.rows) // _WEIGHED_ROWS)]
    size = sum(len(cell) for row in some for cell in row if cell is not None)
    return size * len(chunk.rows) // max(1, len(some))


def next_limit(limit: int, chunk: ReadChunk, most: int = MOST_ROWS) -> int:
    """Return how many rows the next chunk may have, from the `limit` and the row size of this
    chunk; never more than `most`.
    """
    fitting = _TARGET_BYTES * len(chunk.rows) // max(1, size_bytes(chunk)) if chunk.rows else limit
    return max(1, min(4 * limit, fitting, most))


def first_limit(timeouts: int) -> int:
    """Return how many rows the first chunk has, after `timeouts` reads that the source did not
    answer.
    """
    return max(1, FIRST_ROWS >> timeouts)


def check_timeouts(timeouts: int, error: Unreachable, table: TableId) -> None:
    """Raise SnapshotRefused if the source left MOST_TIMEOUTS reads in a row or more unanswered.

    timeouts  number of unanswered reads in a row
    error     the error of the last one
    table     the table that was read
    """
    if timeouts >= MOST_TIMEOUTS:
        raise SnapshotRefused(
            f"The source did not answer {timeouts} reads of {table} in a row, the last one of "
            f"{first_limit(timeouts - 1)} rows: {error.reason}",
            remedy="Request rows that the server finds by the key, or raise "
            "source.read_timeout_seconds. A table with ENUM or SET in its key is sorted "
            "for each chunk: add a unique key without them, or copy it with Spark.",
        ) from error


def check_moves(moves: int, table: str) -> None:
    """Raise SnapshotRefused if the copy of a table began again MOST_MOVES times or more.

    moves  how often it began again
    table  name of the table
    """
    if moves >= MOST_MOVES:
        raise SnapshotRefused(
            f"{moves} times a row of {table} got another key while the table was copied, and no "
            "message had all of its columns: it may have moved into a range that was already "
            "read.",
            remedy="Set binlog_row_image = FULL on the source, publish UPDATEs of the table, or "
            "copy it while no client changes keys.",
        )


def after_void(limit: int) -> int:
    """Return how many rows to read after a chunk that could not be used: half of `limit`, so that
    fewer keys change during the read.
    """
    return max(1, limit // 2)


def columns_of(row: Sequence[bytes | None], table: CopiedTable) -> Sequence[bytes | None]:
    """Return the values of the table's columns from a result row of `chunk_select`, without the key
    texts after them.
    """
    return row[: len(table.columns)]

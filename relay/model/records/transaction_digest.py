"""A digest of a source transaction that is the same on a master and on its replica. No I/O.

Measured on MySQL 5.6 and 9.7 and MariaDB 11.4 with a replica of each. A replica logs the same order
of transactions, statements and row events, the same second in each header, the same names of
tables, and the same row images. It may log other table numbers, XIDs, session variables, bytes of
GTID events and texts of statements (MariaDB's replica logs DROP TABLE as DROP TABLE IF EXISTS). It
may also distribute the rows over other events.
"""

from hashlib import blake2b
from typing import Final, NamedTuple

from relay.errors import CorruptEvent
from relay.model.change import RawItem, RawRows, Statement, TransactionBegin, XaStep

DIGEST_BYTES: Final = 16

# mysql-server, Log_event_type: in both versions the numbers of insert, update and delete are
# consecutive.
_V1_INSERT: Final = 23
_V2_INSERT: Final = 30
_UPDATE: Final = 1
_HEAD_BYTES: Final = 8  # table number and flags, of a table map and of a row event
_TWO_BYTE_NUMBER: Final = 0xFC


class Digested(NamedTuple):
    """One transaction.

    digest  its digest
    second  Unix second in which its first statement began, 0 if no event has it
    """

    digest: bytes
    second: int


class TransactionDigest:
    """Reads the items of a stream in order, and computes the digest at each transaction's end."""

    def __init__(self) -> None:
        self._items = self._second = 0
        self._begin()

    def take(self, item: RawItem) -> None:
        """Add an item of a transaction. Ends of transactions and items between transactions change
        nothing.

        Raises CorruptEvent for a truncated row event.
        """
        if isinstance(item, RawRows):
            try:
                self._take_rows(item)
            except IndexError as exc:
                raise CorruptEvent(
                    f"The row event at {item.position}, or its table map, ends before its rows."
                ) from exc
        elif isinstance(item, TransactionBegin):
            self._begin()
        elif isinstance(item, Statement):
            self._take_other(
                b"statement", "".join(item.sql.split(maxsplit=1)[:1]), item.header_time_s
            )
        elif isinstance(item, XaStep):
            self._take_other(item.action.value.encode(), item.xid, 0)

    def ended(self) -> Digested | None:
        """Return the digest of the transaction that ends here. None for one without changes, which
        a replica may omit.
        """
        if not self._items:
            return None
        self._close_rows()
        self._items = 0
        return Digested(self._whole.digest(), self._second)

    def _begin(self) -> None:
        self._whole = blake2b(digest_size=DIGEST_BYTES)
        self._rows = blake2b(digest_size=DIGEST_BYTES)
        # table, operation and columns of the current run of rows; empty without one
        self._head = b""
        self._items = self._second = 0

    def _take_rows(self, item: RawRows) -> None:
        """Add rows. Consecutive rows of one table and operation are one piece, in however many
        events they were logged.
        """
        operation = item.type_code - (_V1_INSERT if item.type_code < _V2_INSERT else _V2_INSERT)
        images_at, columns = _columns(item, operation)
        head = b"%d %d %s %s" % (operation, item.header_time_s, _table(item.table_map), columns)
        if head != self._head:
            self._close_rows()
            self._head = head
        self._rows.update(memoryview(item.body)[images_at:])
        self._count(item.header_time_s)

    def _close_rows(self) -> None:
        if self._head:
            self._add(b"rows", self._head, self._rows.digest())
            self._rows, self._head = blake2b(digest_size=DIGEST_BYTES), b""

    def _take_other(self, kind: bytes, word: str, time_s: int) -> None:
        self._close_rows()
        self._add(kind, word.upper().encode(), b"%d" % time_s)
        self._count(time_s)

    def _add(self, *pieces: bytes) -> None:
        """Add each piece with its length before it, so that different pieces never give the same
        bytes.
        """
        for piece in pieces:
            self._whole.update(b"%d:" % len(piece))
            self._whole.update(piece)

    def _count(self, time_s: int) -> None:
        self._items += 1
        self._second = self._second or time_s


def _columns(item: RawRows, operation: int) -> tuple[int, bytes]:
    """Return (offset of the row images, the bytes before them: column count and bitmap)."""
    body, start = item.body, _HEAD_BYTES
    if item.type_code >= _V2_INSERT:
        start += int.from_bytes(body[_HEAD_BYTES : _HEAD_BYTES + 2], "little")
    width, at = body[start], start + 1
    if width == _TWO_BYTE_NUMBER:
        width, at = int.from_bytes(body[at : at + 2], "little"), at + 2
    at += (width + 7) // 8 * (2 if operation == _UPDATE else 1)
    return at, body[start:at]


def _table(table_map: bytes) -> bytes:
    """Return the names of database and table from a table map, each with its length."""
    table_at = _HEAD_BYTES + 1 + table_map[_HEAD_BYTES] + 1
    return table_map[_HEAD_BYTES : table_at + 1 + table_map[table_at]]

"""Identifies the last published transaction in its source's binlog: by coordinates, GTID, and a
digest of its first changes. No I/O.

The relay compares it with the binlog whenever it opens the source. A server that was restored from
an older copy uses GTIDs again, and an image of a virtual machine even files and offsets. Its rows
and their times differ. Only the transaction before a committed position is needed, so no other
digest is computed.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final

from relay.model.change import (
    Operation,
    PreparedRows,
    RawItem,
    RawRows,
    RowsEvent,
    Statement,
    StreamItem,
    TransactionBegin,
    TransactionEnd,
    XaStep,
)
from relay.model.positions.position import LastTransaction

MOST_CHANGES: Final = 16
"""Number of changes of a transaction (row events, statements, steps of XA) that its digest
includes.
"""
_DIGEST_BYTES: Final = 16
_ROW_BYTES: Final = 1024
"""Number of bytes of each row event that the digest includes."""
_HEAD_BYTES: Final = 10
"""Bytes at the start of a row event that a replica may write differently: table number, flags, and
in version 2 the length of extra data.
"""
_OPERATIONS: Final = {
    23: Operation.INSERT, 24: Operation.UPDATE, 25: Operation.DELETE,
    30: Operation.INSERT, 31: Operation.UPDATE, 32: Operation.DELETE, 39: Operation.UPDATE,
}  # fmt: skip
"""Operation of each row event type, of both versions, and of PARTIAL_UPDATE_ROWS (mysql-server,
Log_event_type).
"""


def last_transaction(begin: TransactionBegin, changes: Iterable[bytes]) -> LastTransaction:
    """Return the identity of a transaction, from its begin and the `change_bytes` of its first
    changes.
    """
    return LastTransaction(begin.position, begin.gtid, changes_digest(changes))


def changes_digest(changes: Iterable[bytes]) -> str:
    """Return the digest of a transaction's first changes."""
    whole = blake2b(digest_size=_DIGEST_BYTES)
    for change in changes:
        whole.update(b"%d:" % len(change))
        whole.update(change)
    return whole.hexdigest()


def change_bytes(item: RawItem | StreamItem) -> bytes | None:
    """Return the bytes that identify a change, the same before and after decoding; None for an
    item without a change.
    """
    if isinstance(item, RowsEvent):
        return _rows(item.operation, item.header_time_s, item.body)
    if isinstance(item, PreparedRows):
        item = item.raw
    if isinstance(item, RawRows):
        return _rows(_OPERATIONS[item.type_code], item.header_time_s, item.body)
    if isinstance(item, Statement):
        # A replica may log the statement with other words after the first one.
        word = "".join(item.sql.split(maxsplit=1)[:1]).upper()
        return f"statement {item.header_time_s} {word}".encode("utf-8", "replace")
    if isinstance(item, XaStep):
        return f"xa {item.action.value} {item.xid}".encode()
    return None


def last_changed(
    items: Sequence[StreamItem], first: int, end: int
) -> tuple[TransactionBegin, list[bytes]] | None:
    """Return (begin, bytes of the first changes) of the last transaction in items[first:end] that
    has a change; None if none has.
    """
    after = end
    for at in range(end - 1, first - 1, -1):
        item = items[at]
        if isinstance(item, TransactionBegin):
            if changes := first_changes(items[at + 1 : min(after, at + 1 + MOST_CHANGES)]):
                return item, changes
            after = at
    return None


def first_changes(items: Iterable[RawItem | StreamItem]) -> list[bytes]:
    """Return the `change_bytes` of the items that are changes. The caller passes at most
    MOST_CHANGES items.
    """
    return [change for item in items if (change := change_bytes(item)) is not None]


class LastTransactionTracker:
    """Follows a stream, item by item, and identifies its last transaction."""

    def __init__(self) -> None:
        self._begin: TransactionBegin | None = None
        self._changes: list[bytes] = []
        self._newest: tuple[TransactionBegin, list[bytes]] | None = None

    def take(self, item: RawItem | StreamItem) -> None:
        """Record the next item of the stream."""
        if isinstance(item, TransactionBegin):
            self._begin, self._changes = item, []
        elif isinstance(item, TransactionEnd):
            if self._begin is not None and self._changes:
                self._newest = self._begin, self._changes
            self._begin, self._changes = None, []
        elif len(self._changes) < MOST_CHANGES and (change := change_bytes(item)) is not None:
            self._changes.append(change)

    @property
    def last(self) -> LastTransaction | None:
        """Return the newest whole transaction with a change; None before the first."""
        return None if self._newest is None else last_transaction(*self._newest)


def _rows(operation: Operation, time_s: int, body: bytes) -> bytes:
    return b"%s %d %s" % (
        operation.value.encode(),
        time_s,
        body[_HEAD_BYTES : _HEAD_BYTES + _ROW_BYTES],
    )

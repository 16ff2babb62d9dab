"""Converts row events of prepared XA transactions into records, and back.

A record contains the logged event, and its table definition if the event does not describe the
table.
"""

import struct
from dataclasses import asdict
from functools import lru_cache
from typing import Any, Final

import orjson

from relay.errors import PositionUnreadable
from relay.model.change import PreparedRows, RawRows
from relay.model.positions.position import BinlogPosition
from relay.model.table import Column, ColumnType, KeyKind, Logged, TableId, TableMap

_FORMAT: Final = 1
_HEAD: Final = struct.Struct("<BBBIQHII")
"""Struct layout: format, whether from MariaDB, event type, header time (s), offset, and the lengths
in bytes of file, table map and table definition.
"""


def record_key(xid: str, number: int, part: int = 0) -> bytes:
    """Return the key of one record of a prepared transaction.

    xid     the transaction
    number  number of the row event in the transaction, from 1; 0: the record says that the
            transaction is prepared
    part    number of the event's part, because a large event needs several records
    """
    return orjson.dumps([xid, number, part])


def read_key(key: bytes) -> tuple[str, int, int]:
    """Return the transaction, the event number and the part number that a key contains."""
    xid, number, part = orjson.loads(key)
    return xid, number, part


def note_value(*, skipped: bool) -> bytes:
    """Return the value of the record which says, in the topic of prepared rows, that a transaction
    is prepared.

    `skipped`: an operator skipped its XA PREPARE, so its XA COMMIT publishes nothing (ADR 92).
    """
    return b'{"skipped":true}' if skipped else b"{}"


def is_skipped(value: bytes) -> bool:
    """Return whether an operator skipped the transaction, from the value that `note_value` made.
    Raises PositionUnreadable for a value of a later version.
    """
    for skipped in (False, True):
        if value == note_value(skipped=skipped):
            return skipped
    raise PositionUnreadable(f"The note of a prepared transaction cannot be read: {value!r}.")


def to_bytes(rows: PreparedRows) -> bytes:
    """Return a row event of a prepared transaction as the value of a Kafka record."""
    raw = rows.raw
    file, table = raw.position.file.encode(), _table_bytes(rows.table)
    head = _HEAD.pack(
        _FORMAT,
        raw.mariadb,
        raw.type_code,
        raw.header_time_s,
        raw.position.offset,
        len(file),
        len(raw.table_map),
        len(table),
    )
    return b"".join((head, file, raw.table_map, table, raw.body))


def from_bytes(value: bytes) -> PreparedRows:
    """Return the row event of a prepared transaction, from the value of its record. Raises
    PositionUnreadable if the value is invalid.
    """
    try:
        form, mariadb, type_code, time_s, offset, file_bytes, map_bytes, table_bytes = (
            _HEAD.unpack_from(value)
        )
        if form != _FORMAT:
            raise ValueError(f"its format is {form}")
        at = _HEAD.size
        pieces = []
        for size in (file_bytes, map_bytes, table_bytes):
            pieces.append(value[at : at + size])
            at += size
        position = BinlogPosition(pieces[0].decode(), offset)
        return PreparedRows(
            RawRows(pieces[1], value[at:], type_code, time_s, position, bool(mariadb)),
            _table(pieces[2]),
        )
    except (struct.error, ValueError, KeyError, TypeError) as exc:
        raise PositionUnreadable(
            f"The record of a prepared row event cannot be read ({exc})."
        ) from exc


def _table_bytes(table: TableMap) -> bytes:
    fields: dict[str, Any] = {
        "id": list(table.id),
        "columns": [asdict(column) for column in table.columns],
        "primary_key": table.primary_key,
        "logged": table.logged.name,
        "unknown": table.unknown,
        "key_kind": table.key_kind.name,
    }
    return orjson.dumps(fields)


@lru_cache(maxsize=256)
def _table(value: bytes) -> TableMap:
    fields = orjson.loads(value)
    columns = tuple(
        Column(**{**each, "type": ColumnType(each["type"]), "labels": tuple(each["labels"])})
        for each in fields["columns"]
    )
    key = tuple(fields["primary_key"])
    # Records of earlier versions do not tell a primary key from a unique key. A table without a
    # primary key may have had a unique key that was not stored.
    kind = KeyKind[fields.get("key_kind", "EITHER" if key else "UNKNOWN")]
    return TableMap(
        TableId(*fields["id"]), columns, key, Logged[fields["logged"]], fields["unknown"], kind
    )

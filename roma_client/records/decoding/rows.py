"""Converts a message with rows into changes."""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import Any, Final

from roma_client.records.change import COLUMNS, LATER, Change, Operation, Order, Values
from roma_client.records.decoding.fields import (
    fields_of_headers,
    fields_of_message,
    unknown_columns,
)
from roma_client.records.decoding.message import Frame, Parts
from roma_client.records.decoding.orders import Headers, orders_of
from roma_client.records.record import ORDER, ORDERS, TAG, TRANSACTION, Record

_NONE: Final[frozenset[str]] = frozenset()
_USUAL: Final = frozenset({ORDER, ORDERS, TAG, TRANSACTION})
"""Headers that make no field of a change, or one that is read from the record."""
_new, _set = object.__new__, object.__setattr__
_QUOTED: Final[Callable[[str], str]] = json.encoder.encode_basestring
"""Returns a text as a JSON string; other letters than ASCII stay as they are."""
_NO_COLUMNS: Final[Mapping[str, str | None]] = {}  # a plain one, which can be pickled


def order_text(headers: Sequence[tuple[str, bytes | None]]) -> bytes | None:
    """Return the value of the header `order`, if the record has no headers but `order`, `tag` and
    `transaction`.

    Otherwise returns None, because another header gives a field of the change (such as `source`),
    the order keys of several rows (`orders`), or the URL of the values (`claim`). The caller must
    then read all headers. Also returns None if the header `order` is missing.
    """
    found = None
    for name, value in headers:
        if name == ORDER:
            found = value
        elif name not in (TAG, TRANSACTION):
            return None
    return found


def change_of_row(record: Record, base: dict[str, Any], parts: Parts, order: Order) -> Change:
    """Return the change of a record that has one row, a key, and only the usual headers.

    `base` has the fields of its frame. Raises ValueError, KeyError, TypeError for other messages.
    """
    frame, (row,), olds = parts
    old = _NO_COLUMNS
    if olds is not None:
        (former,) = olds
        old = {**former} if frame.operation is Operation.UPDATE else _NO_COLUMNS
    elif not frame.has_old:
        raise KeyError("old")
    fields = base.copy()
    fields["key"] = (record.key or b"").decode()
    fields["order"] = order
    fields[frame.image] = row
    fields[LATER] = (_later, record, frame.message, row, old, _NONE)
    change = _new(Change)  # as Change.of_fields, without its call
    _set(change, "__dict__", fields)
    return change


def changes_of_rows(record: Record, headers: Headers, parts: Parts, values: Values) -> list[Change]:
    """Return the changes of a record with rows.

    Raises ValueError, KeyError, TypeError, AttributeError, IndexError for other messages.
    """
    frame, rows, olds = parts
    orders = orders_of(headers, len(rows))
    if olds is None:
        if not frame.has_old:
            raise KeyError("old")
    elif len(olds) != len(rows):
        raise ValueError(f"{len(rows)} rows have {len(olds)} former rows")
    base = frame.bases.get(values)
    if base is None:
        base = frame.bases[values] = _of_rows(frame, values)
    unlogged = _NONE
    if not _USUAL.issuperset(headers):
        base = {**base, **fields_of_headers(headers)}
        unlogged = unknown_columns(headers, "old")
    message, image, is_update = frame.message, frame.image, frame.operation is Operation.UPDATE
    keys = _packed_keys(frame, rows) if record.key is None else [record.key.decode()] * len(rows)
    formers = olds if is_update and olds is not None else repeat(_NO_COLUMNS)
    changes = []
    for row, key, order, former in zip(rows, keys, orders, formers, strict=False):
        fields = base.copy()
        fields["key"] = key
        fields["order"] = order
        fields[image] = row
        old = former if former is _NO_COLUMNS else {**former}
        fields[LATER] = (_later, record, message, row, old, unlogged)
        change = _new(Change)  # as Change.of_fields, without its call
        _set(change, "__dict__", fields)
        changes.append(change)
    return changes


def _of_rows(frame: Frame, values: Values) -> dict[str, Any]:
    """Return the fields that all rows of a message have. Raises TypeError without types.

    It has room for the fields of one row: a copy that grows is made twice.
    """
    dict(frame.message["mysqlType"])  # read later
    fields = {**fields_of_message(frame.message), "operation": frame.operation, "values": values}
    fields[COLUMNS] = frame.columns
    match frame.operation:
        case Operation.INSERT:
            fields["before_texts"] = None
        case Operation.DELETE:
            fields["after_texts"] = None
    return {**fields, "key": None, "order": None, frame.image: None, LATER: None}


def _packed_keys(frame: Frame, rows: Sequence[Mapping[str, str | None]]) -> Sequence[str | None]:
    """Return the keys that the rows of a packed message would have alone; None without a key."""
    names: Sequence[str] = frame.message["pkNames"] or ()
    if not names:
        return [None] * len(rows)
    begin = f"[{_QUOTED(frame.name)},"
    if len(names) == 1:
        (name,) = names
        return [f"{begin}{_json(row[name])}]" for row in rows]
    return [f"{begin}{','.join([_json(row[name]) for name in names])}]" for row in rows]


def _json(value: str | None) -> str:
    """Return a value of a row as JSON."""
    return _QUOTED(value) if type(value) is str else json.dumps(value, ensure_ascii=False)


def _later(name: str, made: Any) -> Any:
    """Return a field of a row that is made when it is read first."""
    _, record, message, row, old, unlogged = made
    is_update = message["type"] == Operation.UPDATE.value
    match name:
        case "tags":
            return record.tags
        case "place":
            return record.place
        case "types":
            return {**message["mysqlType"]}
        case "sql_types":
            return {**(message.get("sqlType") or {})}
        case "changed":
            return frozenset(old) | unlogged if is_update else frozenset(row)
        case "before_texts":
            return {**{each: row[each] for each in row if each not in unlogged}, **old}
    raise AttributeError(name)

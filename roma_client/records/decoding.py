"""A record of the relay as changes: Canal's flat JSON with the relay's headers."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from roma_client.errors import CorruptMessage
from roma_client.records.change import (
    LATER,
    NO_ORDER,
    Change,
    Operation,
    Order,
    SourcePosition,
    Values,
    new_tuple,
)
from roma_client.records.message import Frame, Parts, parts_of, whole
from roma_client.records.record import (
    CLAIM,
    HISTORY,
    INSTANCE,
    ORDER,
    ORDERS,
    REAL,
    SNAPSHOT,
    SOURCE,
    TAG,
    TRANSACTION,
    UNKNOWN,
    ClaimReader,
    Record,
    claimed_value,
)
from roma_client.records.selection import Selection

_TIME_DIGITS: Final = 13
_POSITION_DIGITS: Final = 19
"""An order header is 13 digits, a dot, and 19 digits."""
_SECOND: Final = 1000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NONE: Final[frozenset[str]] = frozenset()
_USUAL: Final = frozenset({ORDER, ORDERS, TAG, TRANSACTION})
"""Headers that make no field of a change, or one that is read from the record."""
_WITHOUT_HEADERS: Final = MappingProxyType(
    {
        "source": None,
        "real": None,
        "instance": None,
        "snapshot": False,
        "history": None,
        "unknown": _NONE,
    }
)
"""Fields of a change whose record has the usual headers only."""
_WITHOUT_ROW: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "key_columns": (),
        "changed": _NONE,
        "unknown": _NONE,
        "types": {},
        "before_texts": None,
        "after_texts": None,
        "values": "python",
    }
)
"""Fields of a change that has no row."""
_new, _set = object.__new__, object.__setattr__
_NO_COLUMNS: Final[Mapping[str, str | None]] = {}  # a plain one, which can be pickled
Headers: TypeAlias = Mapping[str, bytes | None]


class Reading(NamedTuple):
    """The settings by which records become changes."""

    values: Values = "python"
    claim_reader: ClaimReader | None = None


def changes_of(record: Record, selection: Selection, reading: Reading) -> list[Change]:
    """Return the changes of a record that the selection takes, in their order.

    Raises CorruptMessage for a record that the relay did not make, ClaimUnreadable, ClaimGone.
    """
    if not selection.may_take(record):
        return []
    try:
        return _decoded(record, selection, reading)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as exc:
        raise CorruptMessage(
            f"Record {record.offset} of {record.topic}, partition {record.partition}, is not a "
            f"message of the relay in the format canal-json: {type(exc).__name__}: {exc}."
        ) from exc


def _decoded(record: Record, selection: Selection, reading: Reading) -> list[Change]:
    if record.value is None:
        return _deleted(record, selection)
    parts, headers = parts_of(record.value), dict(record.headers)
    frame = parts[0]
    if frame.operation is None:
        return _statements(record, headers, frame.message, selection)
    if not selection.takes_name(frame.name, record.topic):
        return []
    if CLAIM in headers:
        parts = whole(json.loads(claimed_value(record, reading.claim_reader)))
    return _rows(record, headers, parts, reading.values)


def _rows(record: Record, headers: Headers, parts: Parts, values: Values) -> list[Change]:
    frame, rows, olds = parts
    orders = _orders(headers, len(rows))
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
        base = {**base, **_of_headers(headers)}
        unlogged = _unknown(headers, "old")
    message, key = frame.message, record.key
    image = "before_texts" if frame.operation is Operation.DELETE else "after_texts"
    is_update = frame.operation is Operation.UPDATE
    changes = []
    for index, row in enumerate(rows):
        fields = base.copy()
        fields["key"] = _packed_key(message, row) if key is None else key.decode()
        fields["order"] = orders[index]
        fields[image] = row
        old = {**olds[index]} if is_update and olds is not None else _NO_COLUMNS
        fields[LATER] = (_later, record, message, row, old, unlogged)
        change = _new(Change)  # as Change.of_fields, without its call
        _set(change, "__dict__", fields)
        changes.append(change)
    return changes


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


def _unknown(headers: Headers, *images: str) -> frozenset[str]:
    """Return the columns that the binlog did not contain, of the images `data` and `old`."""
    header = headers.get(UNKNOWN)
    if not header:
        return _NONE
    unknown = json.loads(header)
    return frozenset(name for image in images for name in unknown.get(image, ()))


def _statements(
    record: Record, headers: Headers, message: Mapping[str, Any], selection: Selection
) -> list[Change]:
    if "sql" not in message or "isDdl" not in message:
        raise ValueError(f"its type is {message['type']!r}, and it has no statement")
    if not selection.takes_statement(message["database"], message["table"], record.topic):
        return []
    own = {"operation": Operation.STATEMENT, "key": None, "sql": message["sql"]}
    own["order"] = _orders(headers, 1)[0]
    return [Change.of_fields({**_common(record, headers, message), **_WITHOUT_ROW, **own})]


def _deleted(record: Record, selection: Selection) -> list[Change]:
    """Return the delete that a tombstone means; nothing for another table's and for a marker.

    The guard drops it after the message of the same delete, whose order it has.
    """
    name = record.deleted_table
    database, _, table = (name or "").partition(".")
    if name is None or not selection.takes_row(database, table, record.topic):
        return []
    headers = dict(record.headers)
    order = _orders(headers, 1)[0] if ORDER in headers else NO_ORDER
    message = {
        "database": database,
        "table": table,
        "pkNames": None,
        "gtid": None,
        "es": order.execute_time // _SECOND * _SECOND,
        "type": Operation.DELETE.value,
    }
    own = {"operation": Operation.DELETE, "key": (record.key or b"").decode(), "order": order}
    return [Change.of_fields({**_common(record, headers, message), **_WITHOUT_ROW, **own})]


def _common(record: Record, headers: Headers, message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a change that has no row, as far as it has them in common with rows."""
    return {
        **_of_message(message),
        **_of_headers(headers),
        "tags": record.tags,
        "sql_types": {**(message.get("sqlType") or {})},
        "place": record.place,
    }


def _of_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that all rows have, with those of a record without further headers."""
    return {
        **_WITHOUT_HEADERS,
        "database": message["database"],
        "table": message["table"],
        "key_columns": tuple(message["pkNames"] or ()),
        "transaction_id": message["gtid"] or None,
        "sql": None,
        "event_time": _time(message["es"]),
        "kind": message["type"],
        "is_ddl": bool(message.get("isDdl")),
    }


def _of_rows(frame: Frame, values: Values) -> dict[str, Any]:
    """Return the fields that all rows of a message have. Raises TypeError without types."""
    dict(frame.message["mysqlType"])  # read later
    fields = {**_of_message(frame.message), "operation": frame.operation, "values": values}
    match frame.operation:
        case Operation.INSERT:
            fields["before_texts"] = None
        case Operation.DELETE:
            fields["after_texts"] = None
    return fields


def _of_headers(headers: Headers) -> dict[str, Any]:
    """Return the fields that are in further headers."""
    source, get = headers.get(SOURCE), headers.get
    return {
        "source": None if source is None else _source(source),
        "real": _text(get(REAL)),
        "instance": _text(get(INSTANCE)),
        "snapshot": get(SNAPSHOT) is not None,
        "history": _text(get(HISTORY)),
        "unknown": _unknown(headers, "data", "old"),
    }


@lru_cache(maxsize=1024)
def _time(milliseconds: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=milliseconds)


def _packed_key(message: Mapping[str, Any], row: Mapping[str, str | None]) -> str | None:
    """Return the key that a row of a packed message would have alone."""
    names: Sequence[str] = message["pkNames"] or ()
    if not names:
        return None
    parts = [f"{message['database']}.{message['table']}", *(row[name] for name in names)]
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))


def _orders(headers: Headers, rows: int) -> Sequence[Order]:
    """Return the order of each row. Raises ValueError for other headers."""
    text = headers.get(ORDER) or b""
    time, _, position = text.partition(b".")
    if (
        len(time) != _TIME_DIGITS
        or len(position) != _POSITION_DIGITS
        or not (time.isdigit() and position.isdigit())
    ):
        raise ValueError(f"{text!r} is not an order header")
    distances = headers.get(ORDERS)
    if distances is None and rows == 1:
        return (new_tuple(Order, (int(time), int(position))),)
    found = [int(each) for each in (_text(distances) or "0").split(",")]
    if len(found) != rows:
        raise ValueError(f"{rows} rows have {len(found)} orders")
    return [Order(int(time), int(position) + each) for each in found]


def _source(header: bytes) -> SourcePosition:
    server, rest = header.decode().split(":", 1)
    file, offset = rest.rsplit(":", 1)
    return SourcePosition(int(server), file, int(offset))


def _text(header: bytes | None) -> str | None:
    return header if header is None else header.decode("utf-8")

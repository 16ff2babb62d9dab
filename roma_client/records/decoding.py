"""A record of the relay as changes: Canal's flat JSON with the relay's headers."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from roma_client.errors import ClaimGone, ClaimUnreadable, CorruptMessage
from roma_client.records.change import (
    NO_ORDER,
    Change,
    Operation,
    Order,
    Place,
    SourcePosition,
    Values,
)
from roma_client.records.message import message_of
from roma_client.records.record import (
    CLAIM,
    HISTORY,
    INSTANCE,
    ORDER,
    ORDERS,
    REAL,
    SNAPSHOT,
    SOURCE,
    UNKNOWN,
    Record,
)
from roma_client.records.selection import Selection

ClaimReader = Callable[[str], bytes]

_ORDER_LENGTH: Final = 33
_ORDER_TIME: Final = 13
"""An order header is 13 digits, a dot, and 19 digits."""
_ROWS: Final = MappingProxyType({each.value: each for each in Operation if each != "STATEMENT"})
_SECOND: Final = 1000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NONE: Final[frozenset[str]] = frozenset()
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
            f"Record {record.offset} of {record.topic}, partition {record.partition}, is no "
            f"message of the relay in the format canal-json: {type(exc).__name__}: {exc}."
        ) from exc


def _decoded(record: Record, selection: Selection, reading: Reading) -> list[Change]:
    if record.value is None:
        return _deleted(record, selection)
    message = message_of(record.value)
    database, table = message["database"], message["table"]
    operation = _ROWS.get(message["type"])
    headers = dict(record.headers)
    if operation is None:
        if "sql" not in message or "isDdl" not in message:
            raise ValueError(f"its type is {message['type']!r}, and it has no statement")
        wanted = selection.takes_statement(database, table, record.topic)
        return [_statement(record, headers, message)] if wanted else []
    if not selection.takes_row(database, table, record.topic):
        return []
    if CLAIM in headers:
        message = json.loads(_claimed(record, reading.claim_reader))
    return _rows(record, headers, message, operation, reading.values)


def _rows(
    record: Record,
    headers: Headers,
    message: Mapping[str, Any],
    operation: Operation,
    values: Values,
) -> list[Change]:
    rows, olds = message["data"], message["old"]
    orders = _orders(headers, len(rows))
    if olds is not None and len(olds) != len(rows):
        raise ValueError(f"{len(rows)} rows have {len(olds)} former rows")
    common = _common(record, headers, message)
    common["operation"] = operation
    common["types"] = {**message["mysqlType"]}
    common["values"] = values
    unlogged = _unknown(headers, "old") if operation is Operation.UPDATE else _NONE
    changes = []
    for index, row in enumerate(rows):
        old = {} if olds is None else olds[index]
        fields = common if index == len(rows) - 1 else {**common}
        fields["key"] = _key(record, message, row)
        fields["order"] = orders[index]
        changed = frozenset(old if operation is Operation.UPDATE else row)
        fields["changed"] = changed | unlogged if unlogged else changed
        fields["before_texts"], fields["after_texts"] = _images(operation, row, old, unlogged)
        changes.append(Change.of_fields(fields))
    return changes


def _unknown(headers: Headers, *images: str) -> frozenset[str]:
    """Return the columns that the binlog did not contain, of the images `data` and `old`."""
    header = headers.get(UNKNOWN)
    if not header:
        return _NONE
    unknown = json.loads(header)
    return frozenset(name for image in images for name in unknown.get(image, ()))


def _images(
    operation: Operation,
    row: Mapping[str, str | None],
    old: Mapping[str, str | None],
    unlogged: frozenset[str],
) -> tuple[Mapping[str, str | None] | None, Mapping[str, str | None] | None]:
    """Return the row before and after the change.

    `unlogged`: columns of an update whose former value is not known; that of every other column
    which `old` lacks is the present one.
    """
    if operation is Operation.INSERT:
        return None, row
    if operation is Operation.DELETE:
        return row, None
    if unlogged:
        row_before = {name: text for name, text in row.items() if name not in unlogged}
        return {**row_before, **old}, row
    return {**row, **old}, row


def _statement(record: Record, headers: Headers, message: Mapping[str, Any]) -> Change:
    own = {
        "operation": Operation.STATEMENT,
        "key": None,
        "order": _orders(headers, 1)[0],
        "sql": message["sql"],
    }
    return Change.of_fields({**_common(record, headers, message), **_WITHOUT_ROW, **own})


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
    """Return the fields that all rows of a message have."""
    source, get = headers.get(SOURCE), headers.get
    return {
        "database": message["database"],
        "table": message["table"],
        "key_columns": tuple(message["pkNames"] or ()),
        "tags": record.tags,
        "transaction_id": message["gtid"] or None,
        "source": None if source is None else _source(source),
        "real": _text(get(REAL)),
        "instance": _text(get(INSTANCE)),
        "snapshot": get(SNAPSHOT) is not None,
        "history": _text(get(HISTORY)),
        "unknown": _unknown(headers, "data", "old"),
        "sql": None,
        "event_time": _time(message["es"]),
        "sql_types": {**(message.get("sqlType") or {})},
        "kind": message["type"],
        "is_ddl": bool(message.get("isDdl")),
        "place": Place(record.topic, record.partition, record.offset),
    }


@lru_cache(maxsize=1024)
def _time(milliseconds: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=milliseconds)


def _key(record: Record, message: Mapping[str, Any], row: Mapping[str, str | None]) -> str | None:
    """Return the record's key; of a packed message the key that the row would have alone."""
    if record.key is not None:
        return record.key.decode("utf-8")
    names: Sequence[str] = message["pkNames"] or ()
    if not names:
        return None
    parts = [f"{message['database']}.{message['table']}", *(row[name] for name in names)]
    return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))


def _orders(headers: Headers, rows: int) -> list[Order]:
    """Return the order of each row. Raises ValueError for other headers."""
    text = headers.get(ORDER) or b""
    time, position = text[:_ORDER_TIME], text[_ORDER_TIME + 1 :]
    if (
        len(text) != _ORDER_LENGTH
        or text[_ORDER_TIME] != ord(".")
        or not (time.isdigit() and position.isdigit())
    ):
        raise ValueError(f"{text!r} is no order header")
    distances = headers.get(ORDERS)
    if distances is None and rows == 1:
        return [Order(int(time), int(position))]
    found = [int(each) for each in (_text(distances) or "0").split(",")]
    if len(found) != rows:
        raise ValueError(f"{rows} rows have {len(found)} orders")
    return [Order(int(time), int(position) + each) for each in found]


def _source(header: bytes) -> SourcePosition:
    server, rest = header.decode().split(":", 1)
    file, offset = rest.rsplit(":", 1)
    return SourcePosition(int(server), file, int(offset))


def _text(header: bytes | None) -> str | None:
    return None if header is None else header.decode("utf-8")


def _claimed(record: Record, reader: ClaimReader | None) -> bytes:
    """Return the value that a claim names. Raises ClaimUnreadable, ClaimGone."""
    claim = json.loads(record.header(CLAIM) or b"")
    where = f"of record {record.offset} of {record.topic}, partition {record.partition}"
    url, size, digest = claim["url"], claim["size"], claim["sha256"]
    if reader is None:
        raise ClaimUnreadable(f"The value {where} is at {url}.")
    try:
        value = reader(url)
    except (FileNotFoundError, LookupError) as exc:
        raise ClaimGone(f"{url}, the value {where}, is gone: {type(exc).__name__}: {exc}.") from exc
    except Exception as exc:
        raise ClaimUnreadable(
            f"`claim_reader` failed for {url}, the value {where}: {type(exc).__name__}: {exc}."
        ) from exc
    if len(value) != size or sha256(value).hexdigest() != digest:
        raise ClaimGone(f"{url} is not the value {where}: its size or SHA-256 differs.")
    return value

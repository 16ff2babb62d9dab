"""Converts a record into changes, or raises an error of this package."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from roma_client.errors import CorruptMessage
from roma_client.records.change import NO_ORDER, Change, Operation, Values
from roma_client.records.decoding.fields import common_fields
from roma_client.records.decoding.message import Frame, Neighbour, Parts, parts_of, whole
from roma_client.records.decoding.orders import Headers, OrderReader, orders_of
from roma_client.records.decoding.rows import change_of_row, changes_of_rows, order_text
from roma_client.records.record import (
    CLAIM,
    ORDER,
    UNREADABLE,
    ClaimReader,
    Record,
    claimed_value,
)
from roma_client.records.selection import Selection

_SECOND: Final = 1000
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


class Reading(NamedTuple):
    """The settings by which records are converted into changes."""

    values: Values = "python"
    claim_reader: ClaimReader | None = None


def changes_of(record: Record, selection: Selection, reading: Reading) -> list[Change]:
    """Return the changes of a record that the selection contains, in their order.

    Raises CorruptMessage for a record that the relay did not make, ClaimUnreadable, ClaimGone.
    """
    return Decoder(selection, reading).changes(record)


class Decoder:
    """Converts one reader's records into changes. Not thread-safe.

    It reuses the parsed text that a record has in common with the record before, because rows of
    one statement differ only in row, key and order.
    """

    def __init__(self, selection: Selection, reading: Reading) -> None:
        self._selection = selection
        self._reading = reading
        self._orders = OrderReader()
        self._newest: Neighbour | None = None
        self._taken: tuple[Frame | None, str] = (None, "")  # of the newest record, and its topic
        self._checks_tags = bool(selection.tags) and selection.statements

    def changes(self, record: Record) -> list[Change]:
        """Return the changes of a record, as `changes_of` does. Raises the errors of
        `changes_of`.
        """
        if not self._selection.may_take(record):
            return []
        try:
            found = self._decoded(record)
        except UNREADABLE as exc:
            raise CorruptMessage(
                f"Record {record.offset} of {record.topic}, partition {record.partition}, is not a "
                f"message of the relay in the format canal-json: {type(exc).__name__}: {exc}."
            ) from exc
        return [*filter(self._has_tag, found)] if self._checks_tags else found

    def _has_tag(self, change: Change) -> bool:
        """Return whether a change has a selected tag, or is a statement: those have no tags."""
        is_statement = change.operation is Operation.STATEMENT
        return is_statement or not self._selection.tags.isdisjoint(change.tags)

    def _decoded(self, record: Record) -> list[Change]:
        value, newest = record.value, self._newest
        if value is None:
            return _deleted(record, self._selection)
        parts = None if newest is None else newest.parts(value)
        if parts is None:
            parts, self._newest = parts_of(value)
        frame, rows, _ = parts
        taken, topic = self._taken
        if frame is taken and topic == record.topic:
            text = order_text(record.headers)
            base = frame.bases.get(self._reading.values)
            if not (text is None or base is None or len(rows) != 1 or record.key is None):
                return [change_of_row(record, base, parts, self._orders.order(text))]
        elif frame.operation is None:
            return self._statements(record, frame, rows)
        elif not self._selection.takes_name(frame.name, record.topic):
            return []
        return self._rows(record, parts)

    def _statements(self, record: Record, frame: Frame, rows: object) -> list[Change]:
        """Return the change of a statement. Raises ValueError for rows of a selected table whose
        type this client does not know.
        """
        message, headers, selection = frame.message, dict(record.headers), self._selection
        if "sql" not in message or "isDdl" not in message:
            raise ValueError(f"its type is {message['type']!r}, and it has no statement")
        if rows is not None:
            if selection.takes_name(frame.name, record.topic):
                raise ValueError(f"its type is {message['type']!r}, and it has rows")
            return []
        if not selection.takes_statement(message["database"], message["table"], record.topic):
            return []
        if CLAIM in headers:
            message = json.loads(claimed_value(record, self._reading.claim_reader))
        return [_statement(record, headers, message)]

    def _rows(self, record: Record, parts: Parts) -> list[Change]:
        frame, headers = parts[0], dict(record.headers)
        if CLAIM in headers:
            parts = whole(json.loads(claimed_value(record, self._reading.claim_reader)))
        found = changes_of_rows(record, headers, parts, self._reading.values)
        if self._selection.reads is None:  # otherwise it is asked for each record
            self._taken = frame, record.topic
        return found


def _statement(record: Record, headers: Headers, message: Mapping[str, Any]) -> Change:
    own = {"operation": Operation.STATEMENT, "key": None, "sql": message["sql"]}
    own["order"] = orders_of(headers, 1)[0]
    return Change.of_fields({**common_fields(record, headers, message), **_WITHOUT_ROW, **own})


def _deleted(record: Record, selection: Selection) -> list[Change]:
    """Return the delete that a tombstone means; nothing for another table's and for a marker.

    The guard drops it after the message of the same delete, whose order it has.
    """
    name = record.deleted_table
    database, _, table = (name or "").partition(".")
    if name is None or not selection.takes_row(database, table, record.topic):
        return []
    headers = dict(record.headers)
    order = orders_of(headers, 1)[0] if ORDER in headers else NO_ORDER
    message = {
        "database": database,
        "table": table,
        "pkNames": None,
        "gtid": None,
        "es": order.execute_time // _SECOND * _SECOND,
        "type": Operation.DELETE.value,
    }
    own = {"operation": Operation.DELETE, "key": (record.key or b"").decode(), "order": order}
    return [Change.of_fields({**common_fields(record, headers, message), **_WITHOUT_ROW, **own})]

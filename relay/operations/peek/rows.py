"""Converts messages into rows, column by column, for display and comparison."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from relay.envelope import (
    DATA,
    DATABASE,
    KEY_NAMES,
    MYSQL_TYPE,
    OLD,
    ROW_TYPES,
    TABLE,
    TYPE,
    Header,
    MessageType,
    Order,
    parse_claim,
    row_orders,
)
from relay.kafka import TailRecord
from relay.model.table import TableId
from relay.operations.peek.hidden_columns import HiddenColumns
from relay.order import decompose

_NO_KEY: Final = ""
_ALL: Final = slice(None)


@dataclass(frozen=True, slots=True)
class PeekedColumn:
    """One column of a row, with its type as in `mysqlType`. `before` and `after` are the texts of
    the message, None for NULL.

    hidden   whether the values are hidden; both are then None
    changed  whether the message marks the column as changed
    """

    name: str
    type: str
    is_key: bool
    before: str | None
    after: str | None
    changed: bool
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class PeekedRow:
    """One row of a message, with the coordinates of the message in Kafka, the operation and the
    tags.

    row         the number of the row in its message
    at_ms       when the message was published, in Unix milliseconds
    key         the values of the key in the order of its columns; empty if the table has no key
    key_hidden  whether the values of the key are hidden; `key` is then empty
    order       the order key, None if the message has no order header
    headers     further headers about the origin of the row: real, source, gtid, instance, mapping
    claim       a sentence about a value that is stored outside of Kafka; "" if it is in the message
    """

    topic: str
    partition: int
    offset: int
    row: int
    at_ms: int
    operation: str
    key: tuple[str, ...]
    key_hidden: bool
    columns: tuple[PeekedColumn, ...]
    order: Order | None
    tags: tuple[str, ...]
    headers: Mapping[str, str]
    claim: str = ""

    @property
    def key_text(self) -> str:
        """Return the key's values, separated by commas."""
        return ", ".join(self.key)

    @property
    def changed(self) -> tuple[str, ...]:
        """Return the names of the columns that an update changed."""
        return tuple(each.name for each in self.columns if each.changed)

    @property
    def order_parts(self) -> str:
        """Return the epoch, binlog file and offset of the order key as a part of a sentence; ""
        without an order key.
        """
        if self.order is None:
            return ""
        parts = decompose(self.order.execute_position)
        return f"epoch {parts.epoch}, file {parts.file_number}, offset {parts.offset}"

    def without_values(self) -> "PeekedRow":
        """Return the row for a reader without the right to values: only names, types and
        coordinates.
        """
        columns = tuple(
            replace(each, before=None, after=None, hidden=True) for each in self.columns
        )
        return replace(self, key=(), key_hidden=bool(self.key) or self.key_hidden, columns=columns)

    def fields(self) -> dict[str, object]:
        """Return the row as a JSON object."""
        return {
            "topic": self.topic,
            "partition": self.partition,
            "offset": self.offset,
            "row": self.row,
            "published_ms": self.at_ms,
            "operation": self.operation,
            "key": None if self.key_hidden or not self.key else list(self.key),
            "key_hidden": self.key_hidden,
            "changed": list(self.changed),
            "columns": [
                {
                    "name": each.name,
                    "type": each.type,
                    "key": each.is_key,
                    "before": each.before,
                    "after": each.after,
                    "changed": each.changed,
                    "hidden": each.hidden,
                }
                for each in self.columns
            ],
            "execute_time": None if self.order is None else self.order.execute_time,
            "execute_position": None if self.order is None else str(self.order.execute_position),
            "tags": list(self.tags),
            "headers": dict(self.headers),
            "claim": self.claim,
        }


@dataclass(frozen=True, slots=True)
class RowReader:
    """Reads the rows of one logical table from the records of a topic.

    `printed` are the names that its messages have: the logical name, or real names. `hidden` are
    the columns that are not shown.
    """

    topic: str
    printed: frozenset[TableId]
    hidden: HiddenColumns

    def rows(self, record: TailRecord) -> list[PeekedRow]:
        """Return the rows in a record.

        Empty for other tables, statements, markers and messages of other programs.
        """
        if record.value is None or not self._may_be_ours(record.key):
            return []
        try:
            value = orjson.loads(record.value)
            return self.rows_of(record, value) if self._is_ours(value) else []
        except (ValueError, TypeError, KeyError, AttributeError):
            return []

    def _may_be_ours(self, key: bytes | None) -> bool:
        """Check only the message's key, which is cheaper than its value."""
        if key is None:
            return True
        return any(key.startswith(orjson.dumps([str(each)])[:-1]) for each in self.printed)

    def _is_ours(self, value: Any) -> bool:
        return (
            isinstance(value, dict)
            and value.get(TYPE) in ROW_TYPES
            and TableId(value[DATABASE], value[TABLE]) in self.printed
        )

    def rows_of(
        self, record: TailRecord, value: Mapping[str, Any], numbers: slice = _ALL
    ) -> list[PeekedRow]:
        """Return the rows with these `numbers` of a record. `value` is the parsed value of the
        record, which must be a message with rows.

        Raises ValueError, TypeError, KeyError or AttributeError if the value has another form.
        """
        headers = dict(record.headers)
        rows = value[DATA] or [{}]
        orders = _orders(headers, len(rows))
        olds = value[OLD] or [None] * len(rows)
        return [
            self._row(record, value, number, (rows[number], olds[number]), orders[number])
            for number in range(len(rows))[numbers]
        ]

    def _row(
        self,
        record: TailRecord,
        value: Mapping[str, Any],
        number: int,
        images: tuple[Mapping[str, str | None], Mapping[str, str | None] | None],
        order: Order | None,
    ) -> PeekedRow:
        names: Sequence[str] = value[KEY_NAMES] or ()
        real = _origin(record).get(Header.REAL.value, "")
        columns = tuple(self._columns(value, names, images, real))
        keys = {each.name: each for each in columns if each.is_key}
        hidden = any(self.hidden.masks(each, real) for each in names)
        is_delete = value[TYPE] == MessageType.DELETE
        texts = [
            keys[each].before if is_delete else keys[each].after for each in names if each in keys
        ] or _texts_of(record.key, len(names))
        return PeekedRow(
            topic=self.topic,
            partition=record.partition,
            offset=record.offset,
            row=number,
            at_ms=record.at_ms,
            operation=str(value[TYPE]),
            key=() if hidden else tuple(_NO_KEY if each is None else each for each in texts),
            key_hidden=hidden,
            columns=columns,
            order=order,
            tags=tuple(
                text.decode("utf-8", "replace")
                for name, text in record.headers
                if name == Header.TAG
            ),
            headers=_origin(record),
            claim=_elsewhere(record),
        )

    def _columns(
        self,
        value: Mapping[str, Any],
        key: Sequence[str],
        images: tuple[Mapping[str, str | None], Mapping[str, str | None] | None],
        real: str,
    ) -> list[PeekedColumn]:
        types: Mapping[str, str] = value[MYSQL_TYPE] or {}
        operation, (row, old) = value[TYPE], images
        found = []
        for name in row:
            if self.hidden.omits(name, key):
                continue
            is_hidden = self.hidden.masks(name, real)
            changed = operation == MessageType.UPDATE and old is not None and name in old
            before = None if operation == MessageType.INSERT else (old or {}).get(name, row[name])
            after = None if operation == MessageType.DELETE else row[name]
            found.append(
                PeekedColumn(
                    name=name,
                    type=types.get(name, ""),
                    is_key=name in key,
                    before=None if is_hidden else before,
                    after=None if is_hidden else after,
                    changed=changed,
                    hidden=is_hidden,
                )
            )
        return found


def _texts_of(key: bytes | None, count: int) -> list[str | None]:
    """Return the values of the message's key: its last elements."""
    return [] if key is None or not count else list(orjson.loads(key))[-count:]


_ORIGIN: Final = (Header.INSTANCE, Header.REAL, Header.SOURCE, Header.GTID, Header.MAPPING)


def _origin(record: TailRecord) -> dict[str, str]:
    found = dict(record.headers)
    return {
        each.value: found[each.value].decode("utf-8", "replace")
        for each in _ORIGIN
        if each.value in found
    }


def _orders(headers: Mapping[str, bytes], count: int) -> Sequence[Order | None]:
    if Header.ORDER.value not in headers:
        return [None] * count
    found: list[Order | None] = [
        *row_orders(headers[Header.ORDER.value], headers.get(Header.ORDERS.value))
    ]
    return found if len(found) == count else [found[0]] * count


def _elsewhere(record: TailRecord) -> str:
    headers = dict(record.headers)
    if (text := headers.get(Header.CLAIM.value)) is not None:
        claim = parse_claim(text)
        return f"The value of {claim.size_bytes} bytes is in the store of claims."
    return ""

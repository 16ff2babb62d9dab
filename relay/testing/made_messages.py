"""Makes messages of one logical table: canal-json, one row each, in the exact style."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

from relay.envelope import Header, MessageType, order_text
from relay.testing.sql_type_numbers import sql_type_number

Row: TypeAlias = Mapping[str, str | None]
"""Column name to the text that the relay prints (docs/types.md); None for NULL."""

_FIRST_TIME_MS: Final = 1_767_225_600_000
_FIRST_POSITION: Final = 4_294_967_300


class MadeMessage(NamedTuple):
    """One record as a consumer gets it. `value` is None for a tombstone."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes]]


@dataclass
class Clock:
    """The order key of the next message; one clock may serve several tables.

    execute_time      Unix milliseconds
    execute_position  rises with each message
    """

    execute_time: int = _FIRST_TIME_MS
    execute_position: int = _FIRST_POSITION

    def next(self) -> str:
        """Return the next order header."""
        self.execute_position += 1
        return order_text(self.execute_time, self.execute_position)


@dataclass(frozen=True)
class MessageMaker:
    """Makes the messages of one logical table.

    columns     column name to the text of its type, in the order of the table
    key         columns of the key; empty for a table without one
    topic       default: the logical database
    tags        tags of each message of a row; default: the table's name
    field_tags  column to the further tag of its changes
    """

    database: str
    table: str
    columns: Mapping[str, str]
    key: Sequence[str]
    topic: str = ""
    tags: Sequence[str] = ()
    field_tags: Mapping[str, str] = field(default_factory=dict)
    clock: Clock = field(default_factory=Clock)
    gtid: str = ""

    def insert(self, row: Row) -> MadeMessage:
        """Return the message of an INSERT. Raises ValueError for columns that do not fit."""
        return self._row(MessageType.INSERT, row, None)

    def update(self, before: Row, after: Row) -> MadeMessage:
        """Return the message of an UPDATE that leaves the key as it is.

        Raises ValueError for columns that do not fit, and for a changed key: the relay publishes
        that as a DELETE and an INSERT.
        """
        self._check(before)
        if any(before[name] != after.get(name) for name in self.key):
            raise ValueError(
                "the update changes the key, which the relay publishes as two "
                "messages: call delete() and insert()"
            )
        old = {name: before[name] for name in self.columns if before[name] != after.get(name)}
        return self._row(MessageType.UPDATE, after, old)

    def delete(self, row: Row) -> MadeMessage:
        """Return the message of a DELETE. Raises ValueError for columns that do not fit."""
        return self._row(MessageType.DELETE, row, None)

    def tombstone(self, row: Row) -> MadeMessage:
        """Return the record without a value that follows a DELETE with `tombstones = true`."""
        order = order_text(self.clock.execute_time, self.clock.execute_position)
        return MadeMessage(self._topic, self._key(row), None, self._headers(order, self.columns))

    def statement(self, sql: str, kind: MessageType = MessageType.ALTER) -> MadeMessage:
        """Return the message of a statement, in the topic of statements. It has no tags."""
        value = self._value(kind, None, None, sql)
        headers = [(Header.ORDER.value, self.clock.next().encode())]
        return MadeMessage(f"{self._topic}.ddl", None, value, headers)

    @property
    def _topic(self) -> str:
        return self.topic or self.database

    @property
    def _tags(self) -> Sequence[str]:
        return self.tags or (self.table,)

    def _row(self, kind: MessageType, row: Row, old: Row | None) -> MadeMessage:
        self._check(row)
        ordered = {name: row[name] for name in self.columns}
        headers = self._headers(self.clock.next(), ordered if old is None else old)
        return MadeMessage(
            self._topic, self._key(row), self._value(kind, ordered, old, ""), headers
        )

    def _check(self, row: Row) -> None:
        if set(row) != set(self.columns):
            odd = sorted(set(row) ^ set(self.columns))
            raise ValueError(f"the row and {self.database}.{self.table} differ in {odd}")
        given: Mapping[str, object] = row  # tests are often not checked for types
        wrong = [name for name, text in given.items() if not isinstance(text, str | None)]
        if wrong:
            raise ValueError(f"values of columns are texts or None, unlike those of {wrong}")

    def _key(self, row: Row) -> bytes | None:
        if not self.key:
            return None
        return orjson.dumps([f"{self.database}.{self.table}", *(row[name] for name in self.key)])

    def _headers(self, order: str, touched: Mapping[str, Any]) -> list[tuple[str, bytes]]:
        fields = [tag for name, tag in self.field_tags.items() if name in touched]
        tags = dict.fromkeys([*self._tags, *fields])
        return [(Header.ORDER.value, order.encode())] + [
            (Header.TAG.value, tag.encode()) for tag in tags
        ]

    def _value(self, kind: MessageType, row: Row | None, old: Row | None, sql: str) -> bytes:
        """Return the 14 fields in the order in which the relay prints them."""
        is_row = row is not None
        types = {name: sql_type_number(text) for name, text in self.columns.items()}
        return orjson.dumps(
            {
                "data": [row] if is_row else None,
                "database": self.database,
                "es": self.clock.execute_time // 1000 * 1000,
                "gtid": self.gtid,
                "id": 1,
                "isDdl": not is_row and kind is not MessageType.QUERY,
                "mysqlType": dict(self.columns) if is_row else None,
                "old": None if old is None else [old],
                "pkNames": list(self.key) or None if is_row else None,
                "sql": sql,
                "sqlType": types if is_row else None,
                "table": self.table,
                "ts": self.clock.execute_time,
                "type": kind.value,
            }
        )

"""Maxwell's JSON (Maxwell's daemon 1.45, "Data Format" and the output options of its reference).

Only fields that Maxwell documents are written. docs/formats/maxwell-json.md lists the others.
Compiled code does not print this format, because its field `old` contains only the changed columns.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

import orjson

from relay.encode.formats.envelope_rows import ReadableRows
from relay.encode.formats.message_format import NO_HEADERS, StatementFacts
from relay.encode.formats.wire_types import TypedColumn, json_columns
from relay.encode.frame import MessageFrame
from relay.encode.row_encoder import operation_of
from relay.encode.texts.json_text import server_json
from relay.encode.texts.text_exact import exact_text
from relay.envelope import MessageType
from relay.model.change import Operation, RowChange
from relay.model.column_families import DECIMALS
from relay.model.message import Headers
from relay.model.positions.position import OrderPair
from relay.model.table import Column, ColumnType, TableDefinition, TableId
from relay.model.value import ABSENT, Row, same_value

_ROW_TYPES: Final = {
    Operation.INSERT: "insert",
    Operation.UPDATE: "update",
    Operation.DELETE: "delete",
}
_STATEMENT_TYPES: Final[Mapping[MessageType, str]] = {
    MessageType.CREATE: "create",
    MessageType.ALTER: "alter",
    MessageType.RENAME: "alter",
    MessageType.CINDEX: "alter",
    MessageType.DINDEX: "alter",
    MessageType.ERASE: "drop",
    MessageType.TRUNCATE: "truncate",
}
_QUERY: Final = "query"


class MaxwellJson:
    """The format of Maxwell's Daemon: one JSON object for each row change."""

    name: ClassVar[str] = "maxwell-json"
    headers: ClassVar[Headers] = NO_HEADERS

    def rows(
        self, definition: TableDefinition, name: TableId, _topics: Sequence[str]
    ) -> "MaxwellRows":
        """Return the encoder of a table's rows."""
        return MaxwellRows(definition, name)

    def statement(
        self, statement: StatementFacts, frame: MessageFrame, _order: OrderPair, _topic: str
    ) -> bytes:
        """Return Maxwell's message of a statement, without `old` and `def`.

        For TRUNCATE, and for row changes that were logged as statements, the value of `type` is the
        relay's own.
        """
        what = _STATEMENT_TYPES.get(statement.kind)
        of = "table" if statement.name.table else "database"
        return orjson.dumps(
            {
                "type": _QUERY if what is None else f"{of}-{what}",
                **_names(statement.name),
                "ts": frame.event_time_ms,
                "sql": statement.sql,
                **_coordinates(frame),
            }
        )

    def reference(self, value: bytes) -> bytes:
        """Return the value of a message with a claim check: the message in `value` without its row.
        Readers that do not support claim checks fail on it.
        """
        fields = orjson.loads(value)
        rowless = {"data": None, "old": None, "sql": ""}
        return orjson.dumps({each: rowless.get(each, part) for each, part in fields.items()})


class MaxwellRows(ReadableRows):
    """Encodes the rows of one table under one name."""

    def __init__(self, definition: TableDefinition, name: TableId) -> None:
        super().__init__()
        columns = definition.map.columns
        typed = json_columns(definition, self.count_undecodable)
        self._columns = [
            TypedColumn(each.name, each.type, maxwell_value(column, text) or each.value)
            for column, text, each in zip(columns, definition.type_texts, typed, strict=True)
        ]
        self._name = name
        self._key = [columns[ordinal].name for ordinal in definition.key]

    def image(self, row: Row) -> bytes:
        """Return a row image as a JSON object of its columns."""
        return orjson.dumps(self._values(row))

    def encode(self, changes: Sequence[RowChange], frame: MessageFrame, order: OrderPair) -> bytes:
        """Return the value of a message with one change. The value does not contain `order`; the
        order header does.
        """
        del order
        (change,) = changes
        before, after = change
        row = self._values(after if after is not None else before or ())
        old = {} if before is None or after is None else {"old": self._old(before, after)}
        return orjson.dumps(
            {
                **_names(self._name),
                "type": _ROW_TYPES[operation_of(change)],
                "ts": frame.event_time_ms // 1000,
                **_coordinates(frame),
                "primary_key_columns": self._key,
                "data": row,
                **old,
            }
        )

    def _old(self, before: Row, after: Row) -> dict[str, object]:
        """Return the former values of the changed columns."""
        pairs = zip(before, after, strict=True)
        return self._values(tuple(ABSENT if same_value(old, new) else old for old, new in pairs))

    def _values(self, row: Row) -> dict[str, object]:
        return {
            column.name: None if value is None else column.value(value)
            for column, value in zip(self._columns, row, strict=True)
            if value is not ABSENT
        }


def maxwell_value(column: Column, type_text: str) -> Callable[[Any], object] | None:
    """Return the function that converts a column's values, if Maxwell prints them differently from
    `json_columns`.

    None for all other columns. Numbers are JSON numbers, a SET is an array of its members, and a
    JSON document is embedded.
    """
    if column.type in DECIMALS:
        return lambda value: orjson.Fragment(str(value).encode())
    match column.type:
        case ColumnType.LONGLONG | ColumnType.BIT:
            return int
        case ColumnType.JSON:
            return lambda value: orjson.Fragment(server_json(value).encode())
        case ColumnType.SET:
            text = exact_text(column, type_text, _never)
            return lambda mask: text(mask).split(",") if mask else []
    return None


def _never() -> None:
    """Do nothing: labels are already characters, so none is undecodable."""


def _names(name: TableId) -> dict[str, str]:
    return {"database": name.database} | ({"table": name.table} if name.table else {})


def _coordinates(frame: MessageFrame) -> dict[str, object]:
    """Return the fields with the binlog coordinates of the event. Copied rows have no GTID."""
    gtid = {"gtid": frame.gtid} if frame.gtid else {}
    coordinates = f"{frame.coordinates.file}:{frame.coordinates.offset}"
    return {"position": coordinates, **gtid, "server_id": frame.coordinates.server_id}

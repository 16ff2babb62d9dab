"""Base classes of the formats that write Debezium's fields as JSON."""

import re
from collections.abc import Sequence
from typing import ClassVar, Final

import orjson

from relay.compiled import Envelope, Wire
from relay.encode.formats.envelope_rows import EnvelopeRows, letter_of, order_bytes, source_fields
from relay.encode.formats.message_format import StatementFacts
from relay.encode.formats.wire_types import json_columns
from relay.encode.frame import MessageFrame
from relay.model.change import Operation, RowChange
from relay.model.positions.position import OrderPair
from relay.model.table import TableDefinition, TableId
from relay.model.value import ABSENT, Row

_BETWEEN: Final = b',"after":'
_NO_TRANSACTION: Final = b"null"
_DEBEZIUM_HEADS: Final = (b'{"before":', b'{"schema":')
"""Beginnings of values that may come from `NumberedRows`: the envelope, or its schema."""
_NUMBERED: Final = re.compile(
    rb',"transaction":\{"id":"(?:[^"\\]|\\.)*","total_order":\d+,"data_collection_order":\d+\},'
    rb'"source":'
)
"""The block of `NumberedRows`. Row images never contain this text: quotes in their texts are
escaped, and they contain no objects.
"""


class JsonRows(EnvelopeRows):
    """Encodes the rows of one table under one name.

    end          text after the order key
    transaction  JSON of the field `transaction` in the messages that are encoded next
    """

    def __init__(
        self, definition: TableDefinition, name: TableId, instance: str, end: bytes
    ) -> None:
        super().__init__()
        self.columns = json_columns(definition, self.count_undecodable)
        self._name = name
        self._instance = instance
        self._head = b"{"
        self.transaction = _NO_TRANSACTION
        wires = tuple(
            Wire.BARE if column.type.is_number else Wire.QUOTED for column in self.columns
        )
        self._envelope = Envelope(wires, _BETWEEN, end)

    def wrap(self, head: bytes) -> None:
        """Set the bytes with which every message begins; `head` ends with the opening brace of the
        envelope.
        """
        self._head = head

    @property
    def envelope(self) -> Envelope:
        """Return the texts that compiled code prints around row images."""
        return self._envelope

    def framing_texts(self, operation: Operation, frame: MessageFrame) -> tuple[bytes, bytes]:
        """Return the text before the row images, and the text between them and the order key."""
        inserted, deleted = operation is Operation.INSERT, operation is Operation.DELETE
        return (
            self._head + (b'"before":null,"after":' if inserted else b'"before":'),
            b'%b,"op":"%b","ts_ms":%b%b'
            % (
                b',"after":null' if deleted else b"",
                letter_of(operation, frame).encode(),
                frame.publish_time,
                self.before_order(frame),
            ),
        )

    def before_order(self, frame: MessageFrame) -> bytes:
        """Return the text between `ts_ms` and the order key."""
        return b',"transaction":%b,"source":%b' % (
            self.transaction,
            source_head(self._instance, self._name, frame),
        )

    def image(self, row: Row) -> bytes:
        """Return a row image as a JSON object of its columns."""
        return orjson.dumps(
            {
                column.name: None if value is None else column.value(value)
                for column, value in zip(self.columns, row, strict=True)
                if value is not ABSENT
            }
        )


class NumberedRows(JsonRows):
    """Rows with Debezium's block `transaction`: the source transaction, and the row's number in it.

    The number differs between the rows of an event, so only readable code prints this form.
    """

    is_compiled: ClassVar[bool] = False

    def encode(self, changes: Sequence[RowChange], frame: MessageFrame, order: OrderPair) -> bytes:
        """Return the value of a message with one change."""
        number_of = frame.number_of
        self.transaction = (
            _NO_TRANSACTION if number_of is None else orjson.dumps(number_of(order)._asdict())
        )
        return super().encode(changes, frame, order)


def without_number(value: bytes) -> bytes:
    """Return `value` without the block `transaction` that `NumberedRows` writes. The value may be
    in any format; one that does not begin as Debezium's JSON is not changed.

    Call it for a message that is sent later than its source transaction, such as a dead letter.
    """
    if not value.startswith(_DEBEZIUM_HEADS):
        return value
    return _NUMBERED.sub(b',"transaction":null,"source":', value)


def statement_fields(
    statement: StatementFacts, frame: MessageFrame, source: bytes
) -> dict[str, object]:
    """Return the fields of Debezium's schema change event for a statement; `type` and `isDdl` are
    the relay's own fields.

    `source` is the JSON of its field `source`.
    """
    return {
        "source": orjson.Fragment(source),
        "ts_ms": frame.publish_time_ms,
        "databaseName": statement.name.database,
        "schemaName": None,
        "ddl": statement.sql,
        "tableChanges": [],
        "type": statement.kind.value,
        "isDdl": statement.is_ddl,
    }


def source_head(instance: str, name: TableId, frame: MessageFrame) -> bytes:
    """Return the JSON of `source` up to the order key, which is its last field, `sequence`."""
    return source_json(instance, name, frame)[:-1] + b',"sequence":"'


def ordered_source(instance: str, name: TableId, frame: MessageFrame, order: OrderPair) -> bytes:
    """Return the JSON of `source` with the order key."""
    return source_head(instance, name, frame) + order_bytes(order) + b'"}'


def source_json(instance: str, name: TableId, frame: MessageFrame) -> bytes:
    """Return the JSON of `source` without the order key."""
    fields = source_fields(instance, name, frame)
    return orjson.dumps({"version": "1", "connector": "mysql", **fields})

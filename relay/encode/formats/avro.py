"""Avro with a schema registry: Confluent's framing of an envelope with the row before and after.

A value is a zero byte, the schema's id (4 bytes, big-endian), and the record in Avro's binary
encoding (Confluent documentation: wire format; Apache Avro specification: Binary Encoding).
"""

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any, ClassVar, Final

import fastavro
import orjson

from relay.compiled import Envelope, Wire
from relay.encode.formats.avro_schema import (
    NamePolicy,
    full_name,
    rest_schema,
    row_schemas,
    statement_schema,
)
from relay.encode.formats.envelope_rows import (
    EnvelopeRows,
    letter_of,
    order_bytes,
    source_fields,
    without_rows,
)
from relay.encode.formats.message_format import NO_HEADERS, StatementFacts
from relay.encode.formats.registered.subjects import HEAD, SchemaIds, Subjects, SubjectStrategy
from relay.encode.formats.wire_types import WireType, binary_columns
from relay.encode.frame import MessageFrame
from relay.envelope import ORDER_WIDTH
from relay.errors import RowImageIncomplete
from relay.model.change import Operation
from relay.model.message import Headers
from relay.model.positions.position import OrderPair
from relay.model.table import TableDefinition, TableId
from relay.model.value import ABSENT, Row

_NULL, _PRESENT = b"\0", b"\2"
"""Index bytes of the two branches of a union of null and another type."""
_NO_ORDER: Final = "0" * ORDER_WIDTH
_REST: Final = fastavro.parse_schema(rest_schema())
_STATEMENT: Final = statement_schema()
_WIRES: Final[Mapping[WireType, Wire]] = {
    WireType.INT32: Wire.VARINT,
    WireType.INT64: Wire.VARINT,
    WireType.FLOAT: Wire.FLOATING,
    WireType.DOUBLE: Wire.FLOATING,
    WireType.BYTES: Wire.BYTES,
    WireType.STRING: Wire.CHARACTERS,
}


class Avro:
    """Encodes messages in Avro with Confluent's framing. `instance` becomes `source.name`."""

    name: ClassVar[str] = "avro"
    headers: ClassVar[Headers] = NO_HEADERS

    def __init__(
        self, instance: str, ids: SchemaIds, strategy: SubjectStrategy, policy: NamePolicy
    ) -> None:
        self._instance = instance
        self._subjects = Subjects(ids, strategy, "AVRO")
        self._policy = policy
        self._schemas: dict[int, Any] = {}

    def rows(self, definition: TableDefinition, name: TableId, topics: Sequence[str]) -> "AvroRows":
        """Return the encoder of a table's rows, and register its schema for these topics.

        Raises NameNotInFormat, SchemaRefused, and the registry's errors.
        """
        rows = AvroRows(definition, name, self._instance, self._policy)
        schema = rows.schema
        number = self._subjects.id_of_rows(name, topics, full_name(schema), _text(schema))
        self._keep(number, schema)
        rows.use(number)
        return rows

    def statement(
        self, statement: StatementFacts, frame: MessageFrame, order: OrderPair, topic: str
    ) -> bytes:
        """Return a statement as a record `roma.Statement` for this topic."""
        record = {
            "type": statement.kind.value,
            "isDdl": statement.is_ddl,
            "databaseName": statement.name.database,
            "ddl": statement.sql,
            "ts_ms": frame.publish_time_ms,
            "source": _source(self._instance, statement.name, frame, order_bytes(order).decode()),
        }
        number = self._subjects.id_of(topic, full_name(_STATEMENT), _text(_STATEMENT))
        self._keep(number, _STATEMENT)
        return HEAD.pack(0, number) + _written(self._schemas[number], record)

    def reference(self, value: bytes) -> bytes:
        """Return the value of a message with a claim check: the Avro record in `value` without its
        rows, and without the text of a statement.
        """
        _, number = HEAD.unpack_from(value)
        schema = self._schemas[number]
        record: Any = fastavro.schemaless_reader(BytesIO(value[HEAD.size :]), schema, None)
        return value[: HEAD.size] + _written(schema, without_rows(record))

    def _keep(self, number: int, schema: Mapping[str, Any]) -> None:
        if number not in self._schemas:
            self._schemas[number] = fastavro.parse_schema(dict(schema))


class AvroRows(EnvelopeRows):
    """Encodes the rows of one table under one name. Call `use` with the id of its schema first."""

    def __init__(
        self, definition: TableDefinition, name: TableId, instance: str, policy: NamePolicy
    ) -> None:
        super().__init__()
        self._columns = binary_columns(definition, self.count_undecodable)
        self._name = name
        self._instance = instance
        self.schema, row = row_schemas(self._columns, name, policy)
        self._fields = [field["name"] for field in row["fields"]]
        self._row = fastavro.parse_schema(row)
        self._head = b""
        self._envelope = Envelope(
            tuple(_WIRES[column.type] for column in self._columns), _PRESENT, b""
        )

    def use(self, schema_id: int) -> None:
        """Set the id of the schema in the registry, which each message contains."""
        self._head = HEAD.pack(0, schema_id)

    @property
    def envelope(self) -> Envelope:
        """Return the texts that compiled code prints around row images."""
        return self._envelope

    def framing_texts(self, operation: Operation, frame: MessageFrame) -> tuple[bytes, bytes]:
        """Return the bytes before the row images, and the bytes between them and the order key."""
        inserted, deleted = operation is Operation.INSERT, operation is Operation.DELETE
        rest = {
            "op": letter_of(operation, frame),
            "ts_ms": frame.publish_time_ms,
            "source": _source(self._instance, self._name, frame, _NO_ORDER),
        }
        return (
            self._head + (_NULL if inserted else b"") + _PRESENT,
            (_NULL if deleted else b"") + _written(_REST, rest)[:-ORDER_WIDTH],
        )

    def image(self, row: Row) -> bytes:
        """Return a row as an Avro record.

        Raises RowImageIncomplete if the image lacks a column, because readers would mistake null
        for its value.
        """
        if ABSENT in row:
            raise RowImageIncomplete(
                f"A row of {self._name} lacks columns, and Avro would show them as null."
            )
        values = {
            field: None if value is None else column.value(value)
            for field, column, value in zip(self._fields, self._columns, row, strict=True)
        }
        return _written(self._row, values)


def _text(schema: Mapping[str, Any]) -> str:
    return orjson.dumps(schema).decode()


def _source(instance: str, name: TableId, frame: MessageFrame, order: str) -> dict[str, Any]:
    return {**source_fields(instance, name, frame), "sequence": order}


def _written(schema: Any, record: dict[str, Any]) -> bytes:
    out = BytesIO()
    fastavro.schemaless_writer(out, schema, record)
    return out.getvalue()

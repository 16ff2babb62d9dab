"""Protobuf with a schema registry: Confluent's framing around an envelope with both images of a
row.

A value is a zero byte, the schema's id (4 bytes, big-endian), a zero byte for "the first message of
the file", and the message (Confluent documentation: wire format).
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from relay.encode.formats.avro_schema import NamePolicy
from relay.encode.formats.envelope_rows import ReadableRows, letter_of, order_bytes, source_fields
from relay.encode.formats.message_format import NO_HEADERS, StatementFacts
from relay.encode.formats.registered.protobuf_schema import (
    full_name,
    proto_text,
    row_fields,
    row_file,
    statement_file,
)
from relay.encode.formats.registered.subjects import HEAD, SchemaIds, Subjects, SubjectStrategy
from relay.encode.formats.wire_types import binary_columns
from relay.encode.frame import MessageFrame
from relay.encode.row_encoder import operation_of
from relay.errors import NameNotInFormat, RowImageIncomplete
from relay.model.change import RowChange
from relay.model.message import Headers
from relay.model.positions.position import OrderPair
from relay.model.table import TableDefinition, TableId
from relay.model.value import ABSENT, Row

_FIRST: Final = b"\0"
"""The framing's byte for the first message of a file."""
_BEGIN: Final = HEAD.size + len(_FIRST)
_ROWLESS: Final = ("before", "after", "ddl")


class Protobuf:
    """Encodes messages in Protobuf with Confluent's framing. `instance` becomes `source.name`."""

    name: ClassVar[str] = "protobuf"
    headers: ClassVar[Headers] = NO_HEADERS

    def __init__(
        self, instance: str, ids: SchemaIds, strategy: SubjectStrategy, policy: NamePolicy
    ) -> None:
        self._instance = instance
        self._subjects = Subjects(ids, strategy, "PROTOBUF")
        self._policy = policy
        self._statement = statement_file()
        self._classes: dict[int, type[Message]] = {}

    def rows(
        self, definition: TableDefinition, name: TableId, topics: Sequence[str]
    ) -> "ProtobufRows":
        """Return the encoder of a table's rows, and register its schema for these topics.

        Raises NameNotInFormat, SchemaRefused, and the registry's errors.
        """
        rows = ProtobufRows(definition, name, self._instance, self._policy)
        file = rows.file
        number = self._subjects.id_of_rows(name, topics, full_name(file), proto_text(file))
        self._classes[number] = rows.use(number)
        return rows

    def statement(
        self, statement: StatementFacts, frame: MessageFrame, order: OrderPair, topic: str
    ) -> bytes:
        """Return a statement as a message `roma.Statement` for this topic."""
        file = self._statement
        number = self._subjects.id_of(topic, full_name(file), proto_text(file))
        kind = self._classes.setdefault(number, message_class(file))
        message = kind(
            type=statement.kind.value,
            isDdl=statement.is_ddl,
            databaseName=statement.name.database,
            ddl=statement.sql,
            ts_ms=frame.publish_time_ms,
            source=_source(self._instance, statement.name, frame, order),
        )
        return HEAD.pack(0, number) + _FIRST + message.SerializeToString()

    def reference(self, value: bytes) -> bytes:
        """Return the value of a message with a claim check: the message in `value` without its
        rows, and without the text of a statement.
        """
        _, number = HEAD.unpack_from(value)
        message = self._classes[number].FromString(value[_BEGIN:])
        for name in _ROWLESS:
            if name in message.DESCRIPTOR.fields_by_name:
                message.ClearField(name)
        return value[:_BEGIN] + message.SerializeToString()


class ProtobufRows(ReadableRows):
    """Encodes the rows of one table under one name. Call `use` with the id of its schema first."""

    def __init__(
        self, definition: TableDefinition, name: TableId, instance: str, policy: NamePolicy
    ) -> None:
        super().__init__()
        self._columns = binary_columns(definition, self.count_undecodable)
        self._name = name
        self._instance = instance
        fields = row_fields(self._columns, name, policy)
        self.file = row_file(fields, name, policy)
        self._fields = [field.name for field in fields]
        self._head = b""
        try:
            self._class = message_class(self.file)
        except TypeError as exc:
            raise NameNotInFormat(
                f"Protobuf does not allow the names of the columns of {name} together: {exc}."
            ) from exc

    def use(self, schema_id: int) -> type[Message]:
        """Set the id of the schema in the registry, which each message contains, and return the
        Protobuf class of these messages.
        """
        self._head = HEAD.pack(0, schema_id) + _FIRST
        return self._class

    def image(self, row: Row) -> bytes:
        """Return one row image as a Protobuf message."""
        return self._class(after=self._values(row)).SerializeToString()

    def encode(self, changes: Sequence[RowChange], frame: MessageFrame, order: OrderPair) -> bytes:
        """Return the value of a message with one change.

        Raises RowImageIncomplete if the image lacks a column: a missing field is NULL.
        """
        (change,) = changes
        images = {
            name: self._values(row)
            for name, row in zip(("before", "after"), change, strict=True)
            if row is not None
        }
        message = self._class(
            **images,
            op=letter_of(operation_of(change), frame),
            ts_ms=frame.publish_time_ms,
            source=_source(self._instance, self._name, frame, order),
        )
        return self._head + message.SerializeToString(deterministic=True)

    def _values(self, row: Row) -> dict[str, object]:
        if ABSENT in row:
            raise RowImageIncomplete(
                f"A row of {self._name} lacks columns, and Protobuf would show them as null."
            )
        return {
            field: column.value(value)
            for field, column, value in zip(self._fields, self._columns, row, strict=True)
            if value is not None
        }


def message_class(file: FileDescriptorProto) -> type[Message]:
    """Return the Python class of the first message type in a Protobuf file."""
    pool = DescriptorPool()
    pool.Add(file)
    found: type[Message] = GetMessageClass(pool.FindMessageTypeByName(full_name(file)))
    return found


def _source(
    instance: str, name: TableId, frame: MessageFrame, order: OrderPair
) -> Mapping[str, Any]:
    return {**source_fields(instance, name, frame), "sequence": order_bytes(order).decode()}

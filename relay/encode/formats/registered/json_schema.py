"""JSON with a schema in a registry: Confluent's framing around the envelope of `debezium-json`.

A value is a zero byte, the schema's id (4 bytes, big-endian), and the envelope as JSON text.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import orjson

from relay.encode.formats.debezium_json import END
from relay.encode.formats.envelope_rows import without_rows
from relay.encode.formats.json_rows import JsonRows, ordered_source, statement_fields
from relay.encode.formats.message_format import NO_HEADERS, StatementFacts
from relay.encode.formats.registered.subjects import HEAD, SchemaIds, Subjects, SubjectStrategy
from relay.encode.formats.wire_types import TypedColumn, WireType
from relay.encode.frame import MessageFrame
from relay.model.message import Headers
from relay.model.positions.position import OrderPair
from relay.model.table import TableDefinition, TableId

_DRAFT: Final = "http://json-schema.org/draft-07/schema#"
_TYPES: Final[Mapping[WireType, str]] = {
    WireType.INT32: "integer",
    WireType.INT64: "integer",
    WireType.FLOAT: "number",
    WireType.DOUBLE: "number",
    WireType.BYTES: "string",
    WireType.STRING: "string",
}
_STATEMENT: Final = "roma.Statement"


class JsonSchema:
    """Encodes messages in JSON with Confluent's framing. `instance` becomes `source.name`."""

    name: ClassVar[str] = "json-schema"
    headers: ClassVar[Headers] = NO_HEADERS

    def __init__(self, instance: str, ids: SchemaIds, strategy: SubjectStrategy) -> None:
        self._instance = instance
        self._subjects = Subjects(ids, strategy, "JSON")

    def rows(self, definition: TableDefinition, name: TableId, topics: Sequence[str]) -> JsonRows:
        """Return the encoder of a table's rows, and register its schema for these topics.

        Raises SchemaRefused and the registry's errors.
        """
        rows = JsonRows(definition, name, self._instance, END)
        record = f"{name}.Envelope"
        schema = _text(envelope_schema(record, rows.columns))
        rows.wrap(HEAD.pack(0, self._subjects.id_of_rows(name, topics, record, schema)) + b"{")
        return rows

    def statement(
        self, statement: StatementFacts, frame: MessageFrame, order: OrderPair, topic: str
    ) -> bytes:
        """Return a statement as a schema change event for this topic."""
        source = ordered_source(self._instance, statement.name, frame, order)
        number = self._subjects.id_of(topic, _STATEMENT, _text(statement_schema()))
        return HEAD.pack(0, number) + orjson.dumps(statement_fields(statement, frame, source))

    def reference(self, value: bytes) -> bytes:
        """Return the value of a message with a claim check: the envelope in `value` without its
        rows, with the same schema id.
        """
        fields = orjson.loads(value[HEAD.size :])
        return value[: HEAD.size] + orjson.dumps(without_rows(fields))


def envelope_schema(title: str, columns: Sequence[TypedColumn]) -> dict[str, Any]:
    """Return the schema of a table's messages.

    In the schema, a row has no other columns than `columns`, and no column is required. A registry
    then accepts a new column as compatible with older schemas, but not a dropped one. `title` is
    the title of the schema.
    """
    row = {
        "type": "object",
        "properties": {column.name: _value(column) for column in columns},
        "additionalProperties": False,
    }
    image = {"oneOf": [{"type": "null"}, {"$ref": "#/definitions/Value"}]}
    fields = {
        "before": image,
        "after": image,
        "op": {"type": "string"},
        "ts_ms": {"type": "integer"},
        "transaction": {"type": ["null", "object"]},
        "source": {"type": "object"},
    }
    return _object(title, fields) | {"definitions": {"Value": row}}


def statement_schema() -> dict[str, Any]:
    """Return the schema of messages with statements."""
    texts = ("databaseName", "schemaName", "ddl", "type")
    return _object(
        _STATEMENT,
        {
            "source": {"type": "object"},
            "ts_ms": {"type": "integer"},
            **{each: {"type": ["null", "string"]} for each in texts},
            "tableChanges": {"type": "array"},
            "isDdl": {"type": "boolean"},
        },
    )


def _object(title: str, fields: Mapping[str, object]) -> dict[str, Any]:
    return {
        "$schema": _DRAFT,
        "title": title,
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
    }


def _value(column: TypedColumn) -> dict[str, object]:
    kind: dict[str, object] = {"type": ["null", _TYPES[column.type]]}
    return kind | {"contentEncoding": "base64"} if column.type is WireType.BYTES else kind


def _text(schema: Mapping[str, Any]) -> str:
    return orjson.dumps(schema).decode()

"""Builds Kafka Connect's JSON schemas for messages in Debezium's form (JsonConverter,
schemas.enable).
"""

from collections.abc import Sequence
from typing import Any, Final

import orjson

from relay.encode.formats.wire_types import TypedColumn
from relay.model.table import TableId

_SOURCE: Final = (
    ("version", "string", False),
    ("connector", "string", False),
    ("name", "string", False),
    ("ts_ms", "int64", False),
    ("snapshot", "string", True),
    ("db", "string", False),
    ("table", "string", True),
    ("server_id", "int64", False),
    ("gtid", "string", True),
    ("file", "string", False),
    ("pos", "int64", False),
    ("sequence", "string", True),
)
"""Name and type of each field of `source`, and whether it is optional."""
_TRANSACTION: Final = (
    ("id", "string", False),
    ("total_order", "int64", False),
    ("data_collection_order", "int64", False),
)


def envelope_schema(instance: str, name: TableId, columns: Sequence[TypedColumn]) -> bytes:
    """Return the schema of a table's messages, which contains the names of the instance and of the
    table.
    """
    prefix = f"{instance}.{name}"
    row = [
        {"type": column.type.value, "optional": True, "field": column.name} for column in columns
    ]
    return orjson.dumps(
        {
            "type": "struct",
            "fields": [
                _struct(row, f"{prefix}.Value", "before"),
                _struct(row, f"{prefix}.Value", "after"),
                _field("op", "string", optional=False),
                _field("ts_ms", "int64", optional=True),
                {**_struct(_fields(_TRANSACTION), "event.block", "transaction"), "version": 1},
                _source(),
            ],
            "optional": False,
            "name": f"{prefix}.Envelope",
            "version": 1,
        }
    )


def statement_schema(instance: str) -> bytes:
    """Return the schema of messages with statements."""
    texts = [
        _field("databaseName", "string", optional=True),
        _field("schemaName", "string", optional=True),
        _field("ddl", "string", optional=True),
        {
            "type": "array",
            "items": {"type": "string", "optional": True},
            "optional": False,
            "field": "tableChanges",
        },
        _field("type", "string", optional=False),
        _field("isDdl", "boolean", optional=False),
    ]
    return orjson.dumps(
        {
            "type": "struct",
            "fields": [_source(), _field("ts_ms", "int64", optional=False), *texts],
            "optional": False,
            "name": f"{instance}.SchemaChangeValue",
            "version": 1,
        }
    )


def _source() -> dict[str, Any]:
    return _struct(_fields(_SOURCE), "io.debezium.connector.mysql.Source", "source", optional=False)


def _fields(described: Sequence[tuple[str, str, bool]]) -> list[dict[str, Any]]:
    return [_field(name, kind, optional=optional) for name, kind, optional in described]


def _field(name: str, kind: str, *, optional: bool) -> dict[str, Any]:
    return {"type": kind, "optional": optional, "field": name}


def _struct(
    fields: Sequence[dict[str, Any]], name: str, field: str, *, optional: bool = True
) -> dict[str, Any]:
    return {
        "type": "struct",
        "fields": list(fields),
        "optional": optional,
        "name": name,
        "field": field,
    }

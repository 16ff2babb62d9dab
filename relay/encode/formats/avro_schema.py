"""Builds the Avro schemas of messages, and the names in them (Apache Avro specification: Names)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from relay.encode.formats.wire_types import TypedColumn, WireType
from relay.errors import NameNotInFormat
from relay.model.table import TableId

NamePolicy: TypeAlias = Literal["strict", "escape"]
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ESCAPED: Final = re.compile(r"_u[0-9a-f]{4,6}_")
_TYPES: Final[Mapping[WireType, str]] = {
    WireType.INT32: "int",
    WireType.INT64: "long",
    WireType.FLOAT: "float",
    WireType.DOUBLE: "double",
    WireType.BYTES: "bytes",
    WireType.STRING: "string",
}
_OWN: Final = "roma"
"""Namespace of records that belong to no table."""
ORDER_FIELD: Final = "sequence"
"""The last field of `source`, and so of each message: the order key."""


def avro_name(name: str, policy: NamePolicy, what: str, form: str = "Avro") -> str:
    """Return a valid name in Avro, or in another `form` with the same rule.

    `what` describes the named object in errors. With "escape" each character that is not allowed
    becomes `_u<hex>_`, and so does a digit at the beginning. Different names stay different. With
    "strict", raises NameNotInFormat.
    """
    is_plain = _NAME.fullmatch(name) is not None
    if policy == "strict":
        if not is_plain:
            raise NameNotInFormat(f"{form} does not allow the name {name!r} of {what}.")
        return name
    if is_plain and _ESCAPED.search(name) is None:
        return name
    return "".join(
        one if one.isascii() and (one.isalpha() or (at and one.isdigit())) else _escape(one)
        for at, one in enumerate(name)
    )


def table_namespace(name: TableId, policy: NamePolicy) -> str:
    """Return the namespace of a table's records: its logical name."""
    return ".".join(avro_name(each, policy, f"the table {name}") for each in name)


def row_schemas(
    columns: Sequence[TypedColumn], name: TableId, policy: NamePolicy
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schema of a table's messages, and the schema of a row alone.

    Every column may be null, which is its default. Adding and dropping columns is then compatible
    in both directions.
    """
    namespace = table_namespace(name, policy)
    row = {
        "type": "record",
        "name": "Value",
        "namespace": namespace,
        "fields": [
            _optional(avro_name(column.name, policy, f"a column of {name}"), _TYPES[column.type])
            for column in columns
        ],
    }
    fields = [
        _optional("before", row),
        _optional("after", f"{namespace}.Value"),
        *rest_schema()["fields"],
    ]
    envelope = {"type": "record", "name": "Envelope", "namespace": namespace, "fields": fields}
    return envelope, row


def rest_schema() -> dict[str, Any]:
    """Return the schema of the message fields that follow the rows, as one record."""
    return {
        "type": "record",
        "name": "Rest",
        "namespace": _OWN,
        "fields": [
            {"name": "op", "type": "string"},
            {"name": "ts_ms", "type": "long"},
            {"name": "source", "type": _source()},
        ],
    }


def statement_schema() -> dict[str, Any]:
    """Return the schema of messages with statements."""
    return {
        "type": "record",
        "name": "Statement",
        "namespace": _OWN,
        "fields": [
            {"name": "type", "type": "string"},
            {"name": "isDdl", "type": "boolean"},
            {"name": "databaseName", "type": "string"},
            {"name": "ddl", "type": "string"},
            {"name": "ts_ms", "type": "long"},
            {"name": "source", "type": _source()},
        ],
    }


def full_name(schema: Mapping[str, Any]) -> str:
    """Return the full name (namespace and name) of a record's schema."""
    return f"{schema['namespace']}.{schema['name']}"


def _escape(one: str) -> str:
    return f"_u{ord(one):04x}_"


def _optional(name: str, kind: object) -> dict[str, Any]:
    return {"name": name, "type": ["null", kind], "default": None}


def _source() -> dict[str, Any]:
    return {
        "type": "record",
        "name": "Source",
        "namespace": _OWN,
        "fields": [
            {"name": "name", "type": "string"},
            {"name": "ts_ms", "type": "long"},
            {"name": "snapshot", "type": "string"},
            {"name": "db", "type": "string"},
            _optional("table", "string"),
            {"name": "server_id", "type": "long"},
            _optional("gtid", "string"),
            {"name": "file", "type": "string"},
            {"name": "pos", "type": "long"},
            {"name": ORDER_FIELD, "type": "string"},
        ],
    }

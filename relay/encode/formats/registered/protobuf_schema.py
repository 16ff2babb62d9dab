"""Protobuf schemas (files) of messages: as descriptors, and as the text that is stored in a
registry.

Rule: Protocol Buffers language guide (proto 3), and descriptor.proto.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from relay.encode.formats.avro_schema import NamePolicy, avro_name
from relay.encode.formats.wire_types import TypedColumn, WireType
from relay.errors import NameNotInFormat
from relay.model.table import TableId

_TYPES: Final[Mapping[WireType, str]] = {
    WireType.INT32: "int32",
    WireType.INT64: "int64",
    WireType.FLOAT: "float",
    WireType.DOUBLE: "double",
    WireType.BYTES: "bytes",
    WireType.STRING: "string",
}
_NUMBERS: Final[Mapping[str, "FieldDescriptorProto.Type.ValueType"]] = {
    "int32": FieldDescriptorProto.TYPE_INT32,
    "int64": FieldDescriptorProto.TYPE_INT64,
    "float": FieldDescriptorProto.TYPE_FLOAT,
    "double": FieldDescriptorProto.TYPE_DOUBLE,
    "bytes": FieldDescriptorProto.TYPE_BYTES,
    "string": FieldDescriptorProto.TYPE_STRING,
    "bool": FieldDescriptorProto.TYPE_BOOL,
}
_MOST: Final = 2**29 - 1
"""The greatest field number that Protobuf allows."""
_RESERVED: Final = range(19_000, 20_000)
"""Field numbers that Protobuf reserves for implementations."""
_OWN: Final = "roma"
"""The package of messages that belong to no table."""
_FORMAT: Final = "Protobuf"


class Field(NamedTuple):
    """A field of a Protobuf message, with its name, type and field number.

    optional  a missing value differs from zero and from an empty text
    json      its name in JSON; "": the one that Protobuf derives from `name`
    """

    name: str
    type: str
    number: int
    optional: bool = False
    json: str = ""


_SOURCE: Final = (
    Field("name", "string", 1),
    Field("ts_ms", "int64", 2),
    Field("snapshot", "string", 3),
    Field("db", "string", 4),
    Field("table", "string", 5, optional=True),
    Field("server_id", "int64", 6),
    Field("gtid", "string", 7, optional=True),
    Field("file", "string", 8),
    Field("pos", "int64", 9),
    Field("sequence", "string", 10),
)
_ENVELOPE: Final = (
    Field("before", "Value", 1),
    Field("after", "Value", 2),
    Field("op", "string", 3),
    Field("ts_ms", "int64", 4),
    Field("source", "Source", 5),
)
_STATEMENT: Final = (
    Field("type", "string", 1),
    Field("isDdl", "bool", 2, json="isDdl"),
    Field("databaseName", "string", 3, json="databaseName"),
    Field("ddl", "string", 4),
    Field("ts_ms", "int64", 5),
    Field("source", "Source", 6),
)


def field_number(name: str) -> int:
    """Return the field number of a column: a hash of its name.

    So a column keeps its number when columns are added, dropped or moved, and no relay stores
    numbers.
    """
    number = int.from_bytes(sha256(name.encode()).digest()[:8], "big") % _MOST + 1
    return number + len(_RESERVED) if number in _RESERVED else number


def row_fields(
    columns: Sequence[TypedColumn], name: TableId, policy: NamePolicy
) -> tuple[Field, ...]:
    """Return the Protobuf fields for the columns of a row.

    Raises NameNotInFormat for a name that "strict" does not allow, and if two column names give the
    same number.
    """
    what = f"a column of {name}"
    fields = tuple(
        Field(
            avro_name(column.name, policy, what, _FORMAT),
            _TYPES[column.type],
            field_number(column.name),
            optional=True,
            json="" if column.name.startswith("[") else column.name,
        )
        for column in columns
    )
    by_number: dict[int, str] = {}
    for field in fields:
        other = by_number.setdefault(field.number, field.name)
        if other != field.name:
            raise NameNotInFormat(
                f"The columns {other} and {field.name} of {name} have the same number "
                f"{field.number} in Protobuf."
            )
    return fields


def row_file(fields: Sequence[Field], name: TableId, policy: NamePolicy) -> FileDescriptorProto:
    """Return the file of a table's messages; its first message is `Envelope`."""
    parts = [avro_name(each, policy, f"the table {name}", _FORMAT) for each in name]
    envelope = _message("Envelope", _ENVELOPE)
    value = _message("Value", fields)
    if len({_usual_json(field.name) for field in fields}) < len(fields):
        value.options.deprecated_legacy_json_field_conflicts = True
    envelope.nested_type.extend((value, _message("Source", _SOURCE)))
    return _file(".".join(parts), envelope)


def statement_file() -> FileDescriptorProto:
    """Return the file of messages with statements; its first message is `Statement`."""
    statement = _message("Statement", _STATEMENT)
    statement.nested_type.append(_message("Source", _SOURCE))
    return _file(_OWN, statement)


def full_name(file: FileDescriptorProto) -> str:
    """Return the full name (package and name) of the first message type in a Protobuf file."""
    return f"{file.package}.{file.message_type[0].name}"


def proto_text(file: FileDescriptorProto) -> str:
    """Return a Protobuf file as text in Protobuf's schema language."""
    lines = [f'syntax = "{file.syntax}";', f"package {file.package};", ""]
    for message in file.message_type:
        lines.extend(_lines(message, ""))
    return "\n".join(lines) + "\n"


def _file(package: str, message: DescriptorProto) -> FileDescriptorProto:
    file = FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    file.message_type.append(message)
    for field in message.field:
        if field.type == FieldDescriptorProto.TYPE_MESSAGE:
            field.type_name = f".{package}.{message.name}.{field.type_name}"
    return file


def _message(name: str, fields: Sequence[Field]) -> DescriptorProto:
    message = DescriptorProto(name=name)
    taken = {each.name for each in fields}
    for each in fields:
        field = message.field.add(
            name=each.name, number=each.number, label=FieldDescriptorProto.LABEL_OPTIONAL
        )
        if each.json:
            field.json_name = each.json
        if each.type in _NUMBERS:
            field.type = _NUMBERS[each.type]
        else:
            field.type, field.type_name = FieldDescriptorProto.TYPE_MESSAGE, each.type
        if each.optional:
            field.proto3_optional = True
            field.oneof_index = len(message.oneof_decl)
            message.oneof_decl.add(name=_one_of(each.name, taken))
    return message


def _usual_json(name: str) -> str:
    """Return the name in JSON that a field has without `json_name`.

    Protobuf's compiler refuses a message with two equal ones, such as those of `a_1` and `a1`,
    although each field has a `json_name`, except with an option of the message.
    """
    first, *others = name.split("_")
    return first + "".join(each[:1].upper() + each[1:] for each in others)


def _one_of(name: str, taken: set[str]) -> str:
    """Return the name of the group that represents `optional`, as Protobuf's compiler generates
    it.
    """
    found = f"_{name}"
    while found in taken:
        found = f"X{found}"
    taken.add(found)
    return found


def _lines(message: DescriptorProto, indent: str) -> Iterator[str]:
    names = {number: name for name, number in _NUMBERS.items()}
    yield f"{indent}message {message.name} {{"
    if message.options.deprecated_legacy_json_field_conflicts:
        yield f"{indent}  option deprecated_legacy_json_field_conflicts = true;"
    for field in message.field:
        kind = names.get(field.type) or field.type_name.rpartition(".")[2]
        optional = "optional " if field.proto3_optional else ""
        json = f" [json_name = {_quoted(field.json_name)}]" if field.json_name else ""
        yield f"{indent}  {optional}{kind} {field.name} = {field.number}{json};"
    for nested in message.nested_type:
        yield from _lines(nested, indent + "  ")
    yield f"{indent}}}"


def _quoted(text: str) -> str:
    escaped = "".join(
        f"\\{one}" if one in '\\"' else f"\\x{ord(one):02x}" if ord(one) < ord(" ") else one
        for one in text
    )
    return f'"{escaped}"'

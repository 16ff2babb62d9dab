"""The messages of Canal's protocol: field numbers, names and types.

Source: the wire format of alibaba/canal (CanalProtocol.proto, EntryProtocol.proto), version 1.1.7.
Only the fields that a server of this protocol reads or writes are described. Protobuf skips others.
"""

from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE: Final = "roma.canal"
_MANY: Final = "*"
"""Ends the type of a repeated field."""
_PRESENT: Final = "?"
"""Ends the type of a field whose default value is also written if it was set."""
_LOGIN_PLACE: Final = "1 destination string; 2 client_id string"

_MESSAGES: Final = {
    # packets
    "Packet": "1 magic_number int32?; 2 version int32?; 3 type int32; 4 compression int32?; "
    "5 body bytes",
    "Handshake": "1 communication_encoding string?; 2 seeds bytes; 3 supported_compressions int32",
    "ClientAuth": "1 username string; 2 password bytes; 3 net_read_timeout int32?; "
    "4 net_write_timeout int32?; 5 destination string; 6 client_id string; 7 filter string; "
    "8 start_timestamp int64",
    "Ack": "1 error_code int32?; 2 error_message string",
    "Sub": f"{_LOGIN_PLACE}; 7 filter string",
    "Get": f"{_LOGIN_PLACE}; 3 fetch_size int32; 4 timeout int64?; 5 unit int32?; 6 auto_ack bool?",
    "Messages": "1 batch_id int64; 2 messages bytes*",
    "Batch": f"{_LOGIN_PLACE}; 3 batch_id int64",
    # entries
    "Pair": "1 key string; 2 value string",
    "Header": "1 version int32?; 2 logfileName string; 3 logfileOffset int64; 4 serverId int64; "
    "5 serverenCode string; 6 executeTime int64; 7 sourceType int32?; 8 schemaName string; "
    "9 tableName string; 10 eventLength int64; 11 eventType int32?; 12 props Pair*; "
    "13 gtid string",
    "Entry": "1 header Header; 2 entryType int32?; 3 storeValue bytes",
    "Column": "1 index int32; 2 sqlType int32; 3 name string; 4 isKey bool; 5 updated bool; "
    "6 isNull bool?; 7 props Pair*; 8 value string; 9 length int32; 10 mysqlType string",
    "RowData": "1 beforeColumns Column*; 2 afterColumns Column*; 3 props Pair*",
    "RowChange": "1 tableId int64; 2 eventType int32?; 10 isDdl bool?; 11 sql string; "
    "12 rowDatas RowData*; 13 props Pair*; 14 ddlSchemaName string",
    "TransactionBegin": "1 executeTime int64; 2 transactionId string; 3 props Pair*; "
    "4 threadId int64",
    "TransactionEnd": "1 executeTime int64; 2 transactionId string; 3 props Pair*",
}
"""Name of a message to its fields: number, name, type. Enumerations are numbers on the wire."""

_FIELD: Final = descriptor_pb2.FieldDescriptorProto
_TYPES: Final = {
    "int32": _FIELD.TYPE_INT32,
    "int64": _FIELD.TYPE_INT64,
    "bool": _FIELD.TYPE_BOOL,
    "string": _FIELD.TYPE_STRING,
    "bytes": _FIELD.TYPE_BYTES,
}


def _add_field(message: descriptor_pb2.DescriptorProto, text: str) -> None:
    number, name, kind = text.split()
    plain = kind.rstrip(_MANY + _PRESENT)
    field = message.field.add(
        name=name,
        number=int(number),
        label=_FIELD.LABEL_REPEATED if kind.endswith(_MANY) else _FIELD.LABEL_OPTIONAL,
    )
    if plain in _TYPES:
        field.type = _TYPES[plain]
    else:
        field.type, field.type_name = _FIELD.TYPE_MESSAGE, f".{_PACKAGE}.{plain}"
    if kind.endswith(_PRESENT):
        field.proto3_optional = True
        field.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"_{name}")


def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(
        name="roma_canal.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for text in fields.split("; "):
            _add_field(message, text)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for name in _MESSAGES
    }


MESSAGES: Final = _classes()
"""Name of a message → its class, which the Protobuf library has made."""

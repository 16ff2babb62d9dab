"""CloudEvents, Maxwell's JSON, JSON with a schema and Protobuf from real servers, by readers that
are not the relay's.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.json_schema import JSONDeserializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from deploy.embedded import Apicurio
from tests.e2e.formats.test_avro import texts
from tests.e2e.formats.test_debezium_json import envelope
from tests.e2e.formats.zoo_topics import Fold, Record, Texts, Zoo

_ROWS: Final = ("before", "after")
_FRAMED: Final = 5
"""Bytes before a value with a schema in the registry."""


def fold_of(zoo: Zoo, form: str, read: Iterator[tuple[Record, dict[str, Any]]]) -> Fold:
    """The tables after all changes; values that a format prints otherwise are compared as they are
    in `debezium-json`.
    """
    fold = Fold()
    for (record, found), other in zip(read, zoo.records("debezium"), strict=True):
        printed = envelope(other.value or b"")
        assert record.key == other.key, form
        assert found["op"] == printed["op"]
        before, after = (texts(found[each], printed[each]) for each in _ROWS)
        fold.apply(printed["source"]["table"], before, after)
    return fold


def test_cloudevents_hold_every_row(zoo: Zoo) -> None:
    fold, ids = Fold(), set()
    records = zoo.records("cloudevents")
    for record in records:
        assert record.headers["content-type"].startswith(b"application/cloudevents+json")
        event = json.loads(record.value or b"", parse_float=str, parse_int=str)
        assert (event["specversion"], event["datacontenttype"]) == ("1.0", "application/json")
        assert event["id"] == record.order
        ids.add((event["source"], event["id"]))
        data, table = event["data"], event["data"]["source"]["table"]
        assert event["subject"].endswith("." + table)
        fold.apply(table, data["before"], data["after"])
    assert not fold.differences(zoo)
    assert len(ids) == len(records)


def test_maxwell_holds_every_row(zoo: Zoo) -> None:
    fields = {"database", "table", "type", "ts", "position", "gtid", "server_id", "data", "old"}
    fold = Fold()
    for record, other in zip(zoo.records("maxwell"), zoo.records("debezium"), strict=True):
        found = json.loads(record.value or b"", parse_float=str, parse_int=str)
        assert found.keys() <= {*fields, "primary_key_columns"}
        printed = envelope(other.value or b"")
        data = as_printed(found["data"], printed["after"] or printed["before"])
        old = as_printed(found.get("old", {}), printed["before"] or {})
        before, after = {
            "insert": (None, data),
            "update": (data | old, data),
            "delete": (data, None),
        }[found["type"]]
        fold.apply(found["table"], before, after)
    assert not fold.differences(zoo)


def as_printed(row: dict[str, Any], printed: Texts) -> Texts:
    """The row with the server's texts, to which Maxwell's values must be equal."""
    return {name: same_text(value, printed[name]) for name, value in row.items()}


def same_text(value: Any, printed: str | None) -> str | None:
    if value is None or printed is None:
        assert value is None
        assert printed in (None, "null")  # a JSON document may be null
    elif isinstance(value, list) and not printed.startswith("["):
        assert ",".join(value) == printed
    elif isinstance(value, (dict, list)) or printed[:1] in ('"', "n", "t", "f"):
        known = (value, json.dumps(value), str(value))
        assert printed in known or json.loads(printed, parse_float=str, parse_int=str) == value
    elif value != printed:
        # ZEROFILL adds no zeros to numbers
        assert printed.lstrip("0") in (value, value.lstrip("0"))
    return printed


def test_json_with_a_schema_holds_every_row(zoo: Zoo, registry: Apicurio) -> None:
    with SchemaRegistryClient({"url": registry.url}) as client:
        # it validates each message by the schema of its id
        reader = JSONDeserializer(None, schema_registry_client=client)
        context = SerializationContext(zoo.topics["json_schema"], MessageField.VALUE)
        fold = Fold()
        for record in zoo.records("json_schema"):
            value = record.value or b""
            validated: Any = reader(value, context)
            found = json.loads(value[_FRAMED:], parse_float=str, parse_int=str)
            assert validated["source"]["sequence"] == record.order
            fold.apply(found["source"]["table"], found["before"], found["after"])
    assert not fold.differences(zoo)


class ProtobufReader:
    """Reads values with classes that the compiler of Protobuf makes of the registry's schemas."""

    def __init__(self, client: SchemaRegistryClient, topic: str, folder: Path) -> None:
        self._client = client
        self._context = SerializationContext(topic, MessageField.VALUE)
        self._folder = folder
        self._readers: dict[int, ProtobufDeserializer] = {}

    def read(self, value: bytes) -> Any:
        number = int.from_bytes(value[1:_FRAMED], "big")
        if number not in self._readers:
            kind = self._compiled(str(self._client.get_schema(number).schema_str), number)
            options = {"use.deprecated.format": False}
            self._readers[number] = ProtobufDeserializer(kind, options)
        return self._readers[number](value, self._context)

    def _compiled(self, schema: str, number: int) -> Any:
        source, made = self._folder / f"f{number}.proto", self._folder / f"f{number}.set"
        source.write_text(schema, encoding="utf-8")
        command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{self._folder}"]
        command += [f"--descriptor_set_out={made}", str(source)]
        ran = subprocess.run(command, capture_output=True, check=False, timeout=60)
        assert ran.returncode == 0, (ran.stderr.decode(), schema)
        (file,) = FileDescriptorSet.FromString(made.read_bytes()).file
        pool = DescriptorPool()
        pool.Add(file)
        return GetMessageClass(
            pool.FindMessageTypeByName(f"{file.package}.{file.message_type[0].name}")
        )


def row_of(message: Any, name: str) -> dict[str, Any] | None:
    if not message.HasField(name):
        return None
    row = getattr(message, name)
    return {
        field.json_name: getattr(row, field.name) if row.HasField(field.name) else None
        for field in row.DESCRIPTOR.fields
    }


def test_protobuf_holds_every_row(zoo: Zoo, registry: Apicurio, tmp_path: Path) -> None:
    def read() -> Iterator[tuple[Record, dict[str, Any]]]:
        for record in zoo.records("protobuf"):
            message = reader.read(record.value or b"")
            assert message.source.sequence == record.order
            yield record, {"op": message.op, **{each: row_of(message, each) for each in _ROWS}}

    with SchemaRegistryClient({"url": registry.url}) as client:
        reader = ProtobufReader(client, zoo.topics["protobuf"], tmp_path)
        fold = fold_of(zoo, "protobuf", read())
    assert not fold.differences(zoo)

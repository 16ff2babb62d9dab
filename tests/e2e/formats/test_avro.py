"""Avro from real servers, read back by the client and the deserializer of a schema registry."""

import math
import re
from base64 import b64encode
from typing import Any, Self

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

from deploy.embedded import Apicurio
from tests.e2e.formats.test_debezium_json import envelope
from tests.e2e.formats.zoo_topics import Fold, Record, Texts, Zoo

_ESCAPED = re.compile(r"_u([0-9a-f]{4,6})_")
_ROWS = ("before", "after")


def named(record: dict[str, Any]) -> dict[str, Any]:
    """The record with the names of the columns as the server has them."""
    return {
        _ESCAPED.sub(lambda found: chr(int(found[1], 16)), name): each
        for name, each in record.items()
    }


class Reader:
    """Reads values by the schemas that the registry holds; a context manager."""

    def __init__(self, registry: Apicurio, topic: str) -> None:
        self._client = SchemaRegistryClient({"url": registry.url})
        self._deserializer = AvroDeserializer(self._client)
        self._context = SerializationContext(topic, MessageField.VALUE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def read(self, record: Record) -> dict[str, Any]:
        found: Any = self._deserializer(record.value, self._context)
        rows = {each: found[each] and named(found[each]) for each in _ROWS}
        return {**found, **rows}


def texts(row: dict[str, Any] | None, printed: Texts | None) -> Texts | None:
    """The values as the texts that JSON has for them, which must be equal."""
    if row is None or printed is None:
        assert row is printed
        return None
    assert row.keys() == printed.keys()
    return {name: text_of(each, printed[name]) for name, each in row.items()}


def text_of(value: Any, printed: str | None) -> str | None:
    if isinstance(value, float):
        # The server prints six digits of a FLOAT, and the declared ones of FLOAT(M,D).
        assert printed is not None
        assert math.isclose(value, float(printed), rel_tol=1e-5, abs_tol=0.005)
        return printed
    if isinstance(value, bytes):
        return b64encode(value).decode("ascii")
    return None if value is None else str(value)


@pytest.mark.parametrize("form", ["avro", "avro_readable"])
def test_every_type_is_what_the_server_prints(zoo: Zoo, registry: Apicurio, form: str) -> None:
    fold, records, in_json = Fold(), zoo.records(form), zoo.records("debezium")
    with Reader(registry, zoo.topics[form]) as reader:
        read = [reader.read(each) for each in records]
    for record, found, other in zip(records, read, in_json, strict=True):
        printed = envelope(other.value or b"")
        assert record.key == other.key
        assert found["op"] == printed["op"]
        assert found["source"]["sequence"] == record.order
        assert found["source"]["table"] == printed["source"]["table"]
        assert str(found["source"]["pos"]) == printed["source"]["pos"]
        before, after = (texts(found[each], printed[each]) for each in _ROWS)
        fold.apply(printed["source"]["table"], before, after)
    assert not fold.differences(zoo)

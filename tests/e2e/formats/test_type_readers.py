"""Every line of docs/types.md in every format, read by readers that are not the relay's.

What they gave is `deploy/reference/type_readers.json`, of which `make reference` writes a page.
WRITE=1 writes the file anew.
"""

import json
import os
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import tomli_w
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

from deploy.embedded import Apicurio, Kafka, SqlServer, ZooKeeper
from tests.e2e.formats.conftest import AVRO
from tests.e2e.formats.test_debezium_classes import read as read_by_debezium
from tests.e2e.formats.type_verdicts import flink_type, verdict
from tests.e2e.formats.zoo_topics import read_records, states
from tests.support.flink.flink_sql import run
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.types_page import TypeLine, type_lines
from tests.support.waiting import wait_until
from tests.types.lines import inserted

FILE: Final = Path(__file__).parents[3] / "deploy" / "reference" / "type_readers.json"
FORMS: Final[dict[str, dict[str, Any]]] = {
    "canal-json": {},
    "debezium-json": {"message": {"format": "debezium-json"}},
    "schemas": {"message": {"format": "debezium-json", "schemas": True}},
    "maxwell-json": {"message": {"format": "maxwell-json"}},
    "avro": AVRO,
}
IN_AVRO: Final = ("avro", "avro-confluent")
"""The topic in Avro, by both readers of Flink: the second one reads the fields of an envelope."""
IN_JSON: Final = ("canal-json", "debezium-json", "maxwell-json")
AVRO_TYPES: Final = {
    "int": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "bytes": "BYTES",
    "string": "STRING",
}
CONNECT_TYPES: Final = {
    **AVRO_TYPES,
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INT",
    "int64": "BIGINT",
}


class Source:
    """The lines of the page in tables of a server, and a topic for each table and format."""

    def __init__(self, kafka: Kafka, registry: Apicurio, name: str) -> None:
        self.kafka = kafka
        self.registry = registry
        self.name = name
        self.tables: dict[str, list[tuple[TypeLine, str, str]]] = {}

    def topic(self, form: str, table: str) -> str:
        return f"{self.name}.{form}.{table}"

    def wait_for(self, topic: str) -> None:
        wait_until(lambda: read_records(self.kafka.bootstrap, topic) != [], topic)

    def value(self, form: str, table: str) -> bytes:
        (record,) = read_records(self.kafka.bootstrap, self.topic(form, table))
        return record.value or b""


@pytest.fixture(scope="module")
def source(
    database: SqlServer,
    kafka: Kafka,
    zookeeper: ZooKeeper,
    registry: Apicurio,
    fresh_name: Callable[[str], str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Source]:
    name = fresh_name("kinds").replace("-", "_")
    installation = Installation(name, tmp_path_factory.mktemp(name), database, kafka, zookeeper)
    found = Source(kafka, registry, name)
    (first,) = installation.document["instances"]
    installation.document["instances"] = [
        {
            **first,
            "registry": {"url": registry.url},
            **settings,
            "name": form,
            "source": {**first["source"], "server_id": first["source"]["server_id"] + number},
            "filter": {"filter_regex": f"{name}\\..*"},
            "routing": {
                "unmapped_db": "default_topic",
                "default_topic": found.topic(form, "{table}"),
            },
            "partition": {"partitions_num": 1},
        }
        for number, (form, settings) in enumerate(FORMS.items(), 1)
    ]
    installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")
    with RelayProcess(installation):
        wait_until(lambda: states(installation) == set(FORMS), "all instances run", 90)
        for line, truth, row, column in inserted(database, name, type_lines(database.family)):
            found.tables.setdefault(row.table.table, []).append((line, truth, column))
        for form in FORMS:
            for table in found.tables:
                found.wait_for(found.topic(form, table))
    yield found
    installation.close()


def source_table(source: Source, form: str, table: str, columns: dict[str, str]) -> str:
    """The name of a table of Flink, and the statement that makes it."""
    kind = "debezium-avro-confluent" if form == "avro" else form
    topic = source.topic("avro" if form in IN_AVRO else form, table)
    options = {
        "connector": "kafka",
        "topic": topic,
        "properties.bootstrap.servers": source.kafka.bootstrap,
        "properties.isolation.level": "read_committed",
        "scan.startup.mode": "earliest-offset",
        "scan.bounded.mode": "latest-offset",
        "format": kind,
    }
    if form in IN_AVRO:
        options[f"{kind}.url"] = source.registry.url
    else:
        options[f"{kind}.ignore-parse-errors"] = "true"
    declared = ", ".join(f"{name} {each}" for name, each in columns.items())
    if form == "avro-confluent":
        declared = f"op STRING, `after` ROW<{declared}>"
    given = ", ".join(f"'{name}' = '{each}'" for name, each in options.items())
    return f"({declared}) WITH ({given})"


def avro_types(source: Source, table: str) -> dict[str, str]:
    """The types of Flink for the columns, by the schema that the registry has."""
    number = int.from_bytes(source.value("avro", table)[1:5], "big")
    with SchemaRegistryClient({"url": source.registry.url}) as client:
        schema = json.loads(str(client.get_schema(number).schema_str))
    (row,) = (each for each in schema["fields"] if each["name"] == "after")
    (record,) = (each for each in row["type"] if each != "null")
    (before,) = (each for each in schema["fields"] if each["name"] == "before")
    record = record if isinstance(record, dict) else next(e for e in before["type"] if e != "null")
    return {
        each["name"]: AVRO_TYPES[next(kind for kind in each["type"] if kind != "null")]
        for each in record["fields"]
    }


def read_by_flink(source: Source) -> dict[tuple[str, str], list[tuple[str, bytes | None]]]:
    """By format and line, the types that were declared and the values that Flink gave."""
    statements, asked = [], []
    for table, lines in source.tables.items():
        declared = {column: flink_type(line.declared) for line, _, column in lines}
        texts = dict.fromkeys(declared, "STRING")
        sets = {
            column: "ARRAY<STRING>" if line.declared.startswith("SET") else kind
            for (line, _, column), kind in zip(lines, declared.values(), strict=True)
        }
        for form in IN_JSON:
            typed = sets if form == "maxwell-json" else declared
            asked += [(form, table, typed), (form, table, texts)]
        in_avro = avro_types(source, table)
        asked += [(form, table, {each: in_avro[each] for each in declared}) for form in IN_AVRO]
    for number, (form, table, columns) in enumerate(asked):
        made = source_table(source, form, table, columns)
        row = "`after`." if form == "avro-confluent" else ""
        selected = ", ".join(f"{row}{name}" for name in columns)
        statements += [f"CREATE TABLE t{number} {made}", f"SELECT {selected} FROM t{number}"]
    changes = {each.select: each for each in run(statements, avro=True, seconds=400)}
    found: dict[tuple[str, str], list[tuple[str, bytes | None]]] = {}
    for number, (form, table, columns) in enumerate(asked):
        cells = changes[number].cells
        for (line, _, column), kind, cell in zip(
            source.tables[table], columns.values(), cells, strict=True
        ):
            assert column in columns
            found.setdefault((form, key_of(line)), []).append((kind, cell))
    return found


def read_by_classes(source: Source, table: str) -> dict[str, tuple[str, bytes | None]]:
    """By column, the type and the value that Debezium's classes give."""
    (record,) = read_records(source.kafka.bootstrap, source.topic("schemas", table))
    ((_, _, row),) = read_by_debezium([record])
    schema = json.loads(record.value or b"")["schema"]
    (after,) = (each for each in schema["fields"] if each["field"] == "after")
    kinds = {each["field"]: CONNECT_TYPES[each["type"]] for each in after["fields"]}
    texts = json.loads(json.dumps(row), parse_float=str, parse_int=str)
    return {
        name: (kind, None if texts[name] is None else as_bytes(kind, str(texts[name])))
        for name, kind in kinds.items()
    }


def as_bytes(kind: str, text: str) -> bytes:
    return b64decode(text) if kind == "BYTES" else text.encode()


def read_by_registry_client(source: Source, table: str) -> dict[str, tuple[str, bytes | None]]:
    """By column, the type and the value that the client of a registry gives."""
    kinds = avro_types(source, table)
    with SchemaRegistryClient({"url": source.registry.url}) as client:
        context = SerializationContext(source.topic("avro", table), MessageField.VALUE)
        found: Any = AvroDeserializer(client)(source.value("avro", table), context)
    return {
        name: (
            kind,
            cell if isinstance(cell, bytes) else None if cell is None else str(cell).encode(),
        )
        for name, kind in kinds.items()
        for cell in [found["after"][name]]
    }


def key_of(line: TypeLine) -> str:
    return f"{line.declared} = {line.stored}"


@pytest.mark.long
@pytest.mark.timeout(900)
def test_readers_give_what_the_page_says(source: Source) -> None:
    by_flink = read_by_flink(source)
    found: dict[str, dict[str, str]] = {}
    for table, lines in source.tables.items():
        by_classes = read_by_classes(source, table)
        by_client = read_by_registry_client(source, table)
        for line, truth, column in lines:
            read = {f"Flink {form}": by_flink[form, key_of(line)] for form in (*IN_JSON, "avro")}
            assert by_flink["avro-confluent", key_of(line)] == by_flink["avro", key_of(line)]
            read["Debezium classes"] = [by_classes[column]]
            read["registry client"] = [by_client[column]]
            found[key_of(line)] = {
                reader: verdict(line.declared, truth, each) for reader, each in read.items()
            }
    written = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    if os.environ.get("WRITE"):
        kept = [key_of(line) for line in type_lines()]
        whole = written | found
        lines_ = {key: whole[key] for key in kept if key in whole}
        text = json.dumps(lines_, ensure_ascii=False, indent=1)
        FILE.write_text(text + "\n", encoding="utf-8")
        return
    assert found == {key: written.get(key) for key in found}

"""One instance whose topics have three formats: the same rows, under the same keys and orders."""

from typing import Any, Final

import orjson
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext

from deploy.embedded import Apicurio, Kafka, MariaDB
from tests.e2e.conftest import NewInstallation
from tests.e2e.formats.zoo_topics import Record, Texts, read_records
from tests.snapshots.commands import requests, roma, wait_for
from tests.support.faults.tcp_gate import TcpGate
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.waiting import wait_until
from tests.types.server_texts import server_rows

RULES: Final = [
    {"topics": "*_lake", "format": "avro"},
    {"topics": "*_connect", "format": "debezium-json"},
    {"topics": "*_copy", "format": "protobuf"},
]
SETTINGS: Final[dict[str, Any]] = {
    "topic": {"rules": RULES},
    "message": {"tombstones": True},
    "buffer": {"buffer_size": 16, "batch_mode": "ITEMSIZE"},
    "transaction": {"split_bytes": 100_000},
}
ROWS: Final = 1500
SLOWLY: Final = 150
"""Rows a second: the crash meets the transaction between two of its parts."""


def records(kafka: Kafka, topic: str) -> list[Record]:
    """All messages in their order, without markers of moved tables, which have no order."""
    rows = (each for each in read_records(kafka.bootstrap, topic) if "moved" not in each.headers)
    return sorted(rows, key=lambda each: (each.order, each.place))


def test_topics_of_one_instance_have_the_same_rows_each_in_its_format(
    mariadb: MariaDB, kafka: Kafka, registry: Apicurio, new_installation: NewInstallation
) -> None:
    host, port = registry.address.split(":")
    with TcpGate(host, int(port)) as gate:
        url = registry.url.replace(registry.address, gate.address)
        installation = new_installation(mariadb, kafka, registry={"url": url}, **SETTINGS)
        name = installation.name
        installation.map(topics=[{"logicDb": name, "topic": f"{name},{name}_lake"}])
        with RelayProcess(installation) as relay:
            relay.wait_for("RUNNING")
            changed_and_copied(installation, mariadb)
            gate.shut()
            mariadb.execute(
                f"alter table {name}.t add column w bigint default 7",
                f"insert into {name}.t (id, n) values (5, 5)",
            )
            relay.wait_for("WAITING", "REGISTRY_UNREACHABLE")
            assert not any(b'"5"' in (each.key or b"") for each in records(kafka, name))
            gate.lead_to(host, int(port))
            moved_in_a_split_transaction(installation, mariadb, kafka, relay)
            wait_until(lambda: bool(records(kafka, f"{name}_connect")), "the last row")
    canal, lake = records(kafka, name), records(kafka, f"{name}_lake")
    assert [facts(each) for each in canal] == [facts(each) for each in lake]
    assert len(lake) > ROWS
    with mariadb.connect() as connection:
        rows = {each["id"]: each for each in server_rows(connection, name, "t")}
    last = rows.pop("0")
    assert last_rows(canal, canal_row) == rows
    with SchemaRegistryClient({"url": registry.url}) as client:
        read = Avro(client, f"{name}_lake")
        assert last_rows(lake, read.row) == rows
        (in_avro,) = records(kafka, f"{name}_lake.ddl")
        (statement,) = records(kafka, f"{name}.ddl")
        assert orjson.loads(statement.value or b"")["sql"] == read.record(in_avro)["ddl"]
    keys = {each.key for each in records(kafka, f"{name}_copy")}
    assert {orjson.loads(each or b"")[1] for each in keys} == {"3", "4"}
    (inserted,) = records(kafka, f"{name}_connect")
    assert in_texts(orjson.loads(inserted.value or b"")["after"]) == last


@pytest.mark.long
def test_a_copy_waits_for_a_registry_that_hangs_and_the_stream_of_another_format_does_not(
    mariadb: MariaDB, kafka: Kafka, registry: Apicurio, new_installation: NewInstallation
) -> None:
    host, port = registry.address.split(":")
    with TcpGate(host, int(port)) as gate:
        url = registry.url.replace(registry.address, gate.address)
        away = {"registry": {"url": url, "timeout_seconds": 0.3}}
        installation = new_installation(mariadb, kafka, **away, **SETTINGS)
        name = installation.name
        mariadb.execute(f"insert into {name}.t values (1, 1, 'a')")
        with RelayProcess(installation) as relay:
            relay.wait_for("RUNNING")
            gate.swallow()
            number = roma(installation, "start", f"{name}.t", "--to-topic", f"{name}_lake").split()[
                0
            ]
            wait_until(lambda: "does not answer" in waits(installation, number), "it waits")
            mariadb.execute(*(f"insert into {name}.t values ({2 + i}, 0, '')" for i in range(20)))
            wait_until(lambda: len(records(kafka, name)) == 20, "the stream")
            relay.wait_for("RUNNING")
            assert not records(kafka, f"{name}_lake")
            gate.lead_to(host, int(port))
            assert wait_for(installation, number, "DONE")["rows"] == 21
    assert len(records(kafka, f"{name}_lake")) == 21


def waits(installation: Installation, number: str) -> str:
    """Why a running request reads no rows."""
    (found,) = (each for each in requests(installation) if each["id"] == number)
    return str(found["progress"].get("waits", ""))


def changed_and_copied(installation: Installation, mariadb: MariaDB) -> None:
    """Change a key, delete a row, and copy and repair the table."""
    table = f"{installation.name}.t"
    mariadb.execute(
        f"insert into {table} values (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c')",
        f"update {table} set id = 4 where id = 1",
        f"delete from {table} where id = 2",
    )
    copied = ("start", table, "--to-topic", f"{installation.name}_copy")
    for command in (("start", table), ("repair", table, "--keys", "3"), copied):
        number = roma(installation, *command).split()[0]
        wait_for(installation, number, "DONE")


def moved_in_a_split_transaction(
    installation: Installation, mariadb: MariaDB, kafka: Kafka, relay: RelayProcess
) -> None:
    """Kill the relay inside a transaction, and send the table to one topic of a third format."""
    name = installation.name
    wait_until(lambda: any(b'"5"' in (each.key or b"") for each in records(kafka, name)), "row 5")
    installation.limit(SLOWLY)
    many = ", ".join(f"({100 + number}, {number}, repeat('x', 400))" for number in range(ROWS))
    before = len(records(kafka, name))
    mariadb.execute(f"insert into {name}.t (id, n, v) values {many}")
    wait_until(lambda: len(records(kafka, name)) > before, "a part")
    relay.kill()
    installation.limit(None)
    assert len(records(kafka, name)) < before + ROWS, "the crash came too late"
    installation.map(topics=[{"logicDb": name, "topic": f"{name}_connect"}])
    relay.start()
    mariadb.execute(f"insert into {name}.t (id, n, v) values (0, 0, 'last')")


def facts(record: Record) -> tuple[bytes | None, bool, dict[str, bytes]]:
    """What messages of one change have in common in all formats."""
    return record.key, record.value is None, record.headers


def last_rows(found: list[Record], row_of: Any) -> dict[str, Texts]:
    """The row of each key after its last message, without keys whose last one is a tombstone."""
    rows: dict[str, Texts] = {}
    for each in found:
        key = orjson.loads(each.key or b"")[1]
        if each.value is None:
            rows.pop(key, None)
        elif (row := row_of(each)) is not None:
            rows[key] = {"w": "7", **row}  # rows before the ALTER have its default
    return rows


def canal_row(record: Record) -> Texts | None:
    value = orjson.loads(record.value or b"")
    return None if value["type"] == "DELETE" else dict(value["data"][0])


def in_texts(row: dict[str, Any] | None) -> Texts | None:
    return row and {name: None if value is None else str(value) for name, value in row.items()}


class Avro:
    """Reads values of a topic by the schemas of the registry."""

    def __init__(self, client: SchemaRegistryClient, topic: str) -> None:
        self._read = AvroDeserializer(client)
        self._context = SerializationContext(topic, MessageField.VALUE)

    def record(self, record: Record) -> dict[str, Any]:
        found: Any = self._read(record.value, self._context)
        return dict(found)

    def row(self, record: Record) -> Texts | None:
        return in_texts(self.record(record)["after"])

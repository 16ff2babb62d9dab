"""What a mask or a field list hides is nowhere, in no format, by either printer."""

import json
from base64 import b64encode
from contextlib import closing
from typing import Any

import httpx
import tomli_w
from confluent_kafka import Consumer

from deploy.embedded import Apicurio, Kafka, MariaDB
from tests.e2e.conftest import NewInstallation
from tests.e2e.formats.conftest import FORMS
from tests.e2e.formats.test_avro import Reader
from tests.e2e.formats.zoo_topics import PARTITIONS, Record, read_records, states
from tests.snapshots.commands import roma
from tests.snapshots.commands import wait_for as wait_for_copy
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.relays.scraping import status_url
from tests.support.waiting import wait_until

SECRETS = ("5550199", "vault-content", "ada@example.org")
TOO_LARGE = 1_200_000
"""Characters of a value that no topic takes."""


def add_instances(installation: Installation, registry: Apicurio) -> dict[str, str]:
    """Let one instance for each format publish, with the same rule and masks; return the topics."""
    (first,) = installation.document["instances"]
    forms: dict[str, dict[str, Any]] = {"canal": {}, **FORMS}
    topics = {form: f"{installation.name}_{form}" for form in forms}
    hidden = {
        "rules": [{"tables": r".*\.people", "without_fields": ["vault"]}],
        "masks": [
            {"columns": r".*\.people\.phone", "method": "replace"},
            {"columns": r".*\.people\.mail", "method": "hash", "salt": "sixteen characters"},
        ],
    }
    installation.document["instances"] = [
        {
            **first,
            **settings,
            **hidden,
            "name": form,
            "source": {**first["source"], "server_id": first["source"]["server_id"] + number},
            "routing": {"unmapped_db": "default_topic", "default_topic": topics[form]},
            "partition": {"partitions_num": PARTITIONS},
            "registry": {"url": registry.url},
            "oversize": "dead_letter",
            "transaction": {"topic": f"{topics[form]}_transactions"},
        }
        for number, (form, settings) in enumerate(forms.items(), 1)
    ]
    installation.map(topics=[], dbs=[])
    installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")
    return topics


def test_hidden_columns_are_nowhere(
    mariadb: MariaDB, kafka: Kafka, registry: Apicurio, new_installation: NewInstallation
) -> None:
    """Neither in messages of rows, copies, statements, transactions and dead letters, nor in the
    log and the metrics.
    """
    installation = new_installation(mariadb, kafka)
    topics, name = add_instances(installation, registry), installation.name
    phone, vault, mail = SECRETS
    people = f"{name}.people (id, open, phone, vault, mail)"
    with RelayProcess(installation) as relay:
        wait_until(lambda: states(installation) == set(topics), "all instances run")
        mariadb.execute(
            f"create table {name}.people (id int primary key, open longtext, phone int, "
            f"vault blob, mail varchar(40))",
            f"insert into {people} values (1, 'shown', {phone}, '{vault}', '{mail}')",
            f"insert into {people} values (2, repeat('x', {TOO_LARGE}), {phone}, '{vault}', "
            f"'{mail}')",
            f"delete from {name}.people where id = 2",
            f"alter table {name}.people add column late int",
            f"insert into {name}.t values (1, 1, 'plain')",
            f"update {name}.people set open = 'shown too' where id = 1",
        )
        for form, topic in topics.items():
            wait_for_last(kafka, topic, b"shown too", form)
        asked = [
            roma(
                installation, "start", f"{name}.{table}", "--instance", form, "--to-topic", topic
            ).split()[0]
            for form, topic in topics.items()
            for table in ("people", "t")
        ]
        for number in asked:
            wait_for_copy(installation, number, "DONE")
        metrics = httpx.get(f"{status_url(relay)}/metrics", trust_env=False, timeout=60).content
    for form, topic in topics.items():
        copied = [each for each in read_records(kafka.bootstrap, topic) if each.is_copy]
        assert {operation(registry, topic, form, each.value or b"") for each in copied} == {
            {"canal": "INSERT", "maxwell": "insert"}.get(form, "r")
        }
        assert len(copied) == 2
        # a row of a copy belongs to no source transaction
        assert not any("transaction" in each.headers for each in copied)
    assert_hidden({**contents(kafka, name), "log": relay.log.read_bytes(), "metrics": metrics})


def wait_for_last(kafka: Kafka, topic: str, text: bytes, form: str) -> None:
    """Wait for the last change."""
    wait_until(
        lambda: any(text in (each.value or b"") for each in read_records(kafka.bootstrap, topic)),
        f"the last row in {form}",
    )


def contents(kafka: Kafka, name: str) -> dict[str, bytes]:
    """Everything in each topic of the installation: keys, values and headers."""
    with closing(Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": "tests"})) as consumer:
        topics = [each for each in consumer.list_topics(timeout=10).topics if name in each]
    found = {
        topic: b"".join(
            (each.key or b"") + (each.value or b"") + b"".join(each.headers.values())
            for each in read_records(kafka.bootstrap, topic)
        )
        for topic in topics
    }
    for part in ("dead-letters", ".ddl", "_transactions"):
        assert any(found[topic] for topic in topics if part in topic), part
    return found


def assert_hidden(everything: dict[str, bytes]) -> None:
    phone, vault, _ = SECRETS
    # also as Base64, and as Avro's and Protobuf's number
    forbidden = (
        *(each.encode() for each in SECRETS),
        b64encode(vault.encode()).rstrip(b"="),
        varint(int(phone) << 1),
        varint(int(phone)),
    )
    shown = [
        (place, each) for place, seen in everything.items() for each in forbidden if each in seen
    ]
    assert not shown


def operation(registry: Apicurio, topic: str, form: str, value: bytes) -> str:
    """What a message says that it is, by readers that are not the relay's."""
    if form.startswith("avro"):
        with Reader(registry, topic) as reader:
            return str(reader.read(Record(None, value, {}))["op"])
    if form == "protobuf":
        fields = value[6:]
        return "r" if b"\x1a\x01r" in fields else ""  # op = 3: one byte
    found = json.loads(value[5:] if form == "json_schema" else value)
    return _word(found)


def _word(found: dict[str, Any]) -> str:
    for inner in (found.get("payload"), found.get("data")):
        if isinstance(inner, dict) and "op" in inner:
            return str(inner["op"])
    return str(found.get("op") or found["type"])


def varint(number: int) -> bytes:
    """A number as Protobuf writes it."""
    left, found = number, bytearray()
    while left > 0x7F:
        found.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*found, left])

"""What an instance does when its schema registry is away, or does not take a schema."""

from collections.abc import Callable
from typing import Any

from confluent_kafka.schema_registry import SchemaRegistryClient

from deploy.embedded import Apicurio, Kafka, MariaDB
from relay.preflight import Verdict
from relay.preflight.registry_checks import check_registry
from relay.registry import SchemaRegistry
from relay.route import MappingSet
from relay.settings import InstanceSettings, RegistrySettings
from tests.e2e.conftest import NewInstallation
from tests.e2e.formats.test_avro import Reader
from tests.e2e.formats.zoo_topics import read_records
from tests.support.faults.tcp_gate import TcpGate
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.waiting import wait_until


def avro(url: str, **registry: Any) -> dict[str, Any]:
    return {"message": {"format": "avro"}, "registry": {"url": url, **registry}}


def rows(registry: Apicurio, kafka: Kafka, topic: str) -> list[dict[str, Any]]:
    """The rows after each change, in order, as a consumer with the registry reads them."""
    records = sorted(read_records(kafka.bootstrap, topic), key=lambda each: each.order)
    with Reader(registry, topic) as reader:
        return [reader.read(each)["after"] for each in records]


def wait_for_rows(registry: Apicurio, kafka: Kafka, topic: str, *wanted: dict[str, Any]) -> None:
    wait_until(lambda: len(list(read_records(kafka.bootstrap, topic))) >= len(wanted), "the rows")
    assert rows(registry, kafka, topic) == list(wanted)


def set_level(registry: Apicurio, subject: str, level: str) -> None:
    """Let the registry check new schemas of a subject by this level."""
    with SchemaRegistryClient({"url": registry.url}) as client:
        client.set_compatibility(subject, level=level)


def start(relay: RelayProcess) -> None:
    relay.start()
    relay.wait_for("RUNNING")


def test_a_registry_that_is_away_makes_it_wait_and_loses_nothing(
    mariadb: MariaDB, kafka: Kafka, registry: Apicurio, new_installation: NewInstallation
) -> None:
    host, port = registry.address.split(":")
    with TcpGate(host, int(port)) as gate:
        url = registry.url.replace(registry.address, gate.address)
        installation = new_installation(mariadb, kafka, **avro(url))
        name = installation.name
        with RelayProcess(installation) as relay:
            relay.wait_for("RUNNING")
            gate.shut()
            mariadb.execute(f"insert into {name}.t values (1, 1, 'a')")
            relay.wait_for("WAITING", "REGISTRY_UNREACHABLE")
            assert not list(read_records(kafka.bootstrap, name))
            gate.lead_to(host, int(port))
            first = {"id": 1, "n": 1, "v": "a"}
            wait_for_rows(registry, kafka, name, first)
            gate.shut()  # the id of the schema is known
            mariadb.execute(f"insert into {name}.t values (2, 2, 'b')")
            wait_for_rows(registry, kafka, name, first, {"id": 2, "n": 2, "v": "b"})


def test_tables_change_as_the_registry_allows(
    mariadb: MariaDB, kafka: Kafka, registry: Apicurio, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka, **avro(registry.url))
    name = installation.name
    subject = f"{name}-{name}.t.Envelope"
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'a')")
        wait_for_rows(registry, kafka, name, {"id": 1, "n": 1, "v": "a"})
        set_level(registry, subject, "FULL_TRANSITIVE")
        mariadb.execute(
            f"alter table {name}.t add column w bigint not null default 7 after id, drop column v",
            f"insert into {name}.t (id, n) values (2, 2)",
            f"alter table {name}.t modify n varchar(9)",
            f"insert into {name}.t (id, n) values (3, 'x')",
        )
        seen: list[dict[str, Any]] = [{"id": 1, "n": 1, "v": "a"}, {"id": 2, "w": 7, "n": 2}]
        wait_for_rows(registry, kafka, name, *seen)
        relay.wait_for("STOPPED", "SCHEMA_REFUSED")
        relay.stop()
        assert subject in (_reason(installation))
        set_level(registry, subject, "NONE")
        start(relay)
        wait_for_rows(registry, kafka, name, *seen, {"id": 3, "w": 7, "n": "x"})


def test_a_name_that_avro_does_not_allow_is_refused_or_escaped(
    mariadb: MariaDB, kafka: Kafka, registry: Apicurio, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka, **avro(registry.url))
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(
            f"alter table {name}.t add column `order-id` int",
            f"insert into {name}.t values (1, 1, 'a', 5)",
        )
        relay.wait_for("STOPPED", "NAME_NOT_IN_FORMAT")
        relay.stop()
        assert "'order-id'" in _reason(installation)
        installation.file.write_text(
            installation.file.read_text().replace("url = ", 'names = "escape"\nurl = ')
        )
        start(relay)
        wait_for_rows(registry, kafka, name, {"id": 1, "n": 1, "v": "a", "order-id": 5})


def test_unknown_schemas_are_not_registered_where_that_is_off(
    mariadb: MariaDB, kafka: Kafka, registry: Apicurio, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka, **avro(registry.url, auto_register=False))
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {installation.name}.t values (1, 1, 'a')")
        relay.wait_for("STOPPED", "SCHEMA_REFUSED")
    assert "registry.auto_register is off" in _reason(installation)


def _reason(installation: Installation) -> str:
    status = installation.status()
    assert status is not None
    return status.reason or ""


def test_preflight_asks_a_real_registry(
    registry: Apicurio, fresh_name: Callable[[str], str]
) -> None:
    topic = fresh_name("preflight")
    own = SchemaRegistry(RegistrySettings(url=registry.url))
    subject = f"{topic}-value"  # not in the list of a registry with more than 1,000 subjects
    own.id_of(subject, '{"type": "record", "name": "Envelope", "fields": []}', "AVRO")
    for form, verdict in (("avro", Verdict.PASSED), ("protobuf", Verdict.FAILED)):
        settings = {
            "name": "shop",
            "source": {"host": "localhost", "user": "relay", "server_id": 9001},
            "message": {"format": form},
            "registry": {"url": registry.url, "subject": "topic_name"},
            "routing": {"unmapped_db": "default_topic", "default_topic": topic},
        }
        instance = InstanceSettings.model_validate(settings)
        (found,) = check_registry(instance, MappingSet.empty())
        assert found.verdict is verdict
        assert verdict is Verdict.PASSED or subject in found.sentence

"""A topic keeps its format: an instance with another one stops, and a second one of the topic
waits.
"""

import json
from typing import Any

import pytest
import tomli_w

from deploy.embedded import Kafka, MariaDB
from relay.model.records.topic_partitioning import TopicAgreement
from relay.position import KafkaPositionStore
from relay.preflight import Verdict, preflight
from relay.settings import RelaySettings
from relay.state import Paths, TopicAgreementStore
from tests.e2e.conftest import NewInstallation
from tests.e2e.formats.zoo_topics import Record, read_records
from tests.support.relays.former_version import BEFORE_FORMATS, former_version
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

DEBEZIUM = {"message": {"format": "debezium-json"}}
ROWS = 1500
SLOWLY = 150
"""Rows a second: the kill meets the transaction between two of its parts."""


def configure(installation: Installation, **settings: Any) -> None:
    """Change the instance in the configuration file."""
    installation.document["instances"][0].update(settings)
    installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")
    installation.settings = RelaySettings.model_validate({**installation.document, "placement": {}})


def formats_of(kafka: Kafka, topic: str) -> list[str]:
    """The format of each row of a topic, in their order."""
    rows: list[Record] = [each for each in read_records(kafka.bootstrap, topic) if each.value]
    rows.sort(key=lambda each: each.order)
    return ["debezium" if "op" in json.loads(each.value or b"") else "canal" for each in rows]


def known_format(installation: Installation, topic: str) -> str:
    """The format of instance shop in the agreement of a topic."""
    with session_with(installation.settings.zookeeper.hosts) as session:
        return (
            TopicAgreementStore(session, paths_of(installation)).read(topic).feeders["shop"].format
        )


def forget_formats(installation: Installation, topic: str) -> None:
    """Write the agreement as an older relay does."""

    def older(agreement: TopicAgreement) -> TopicAgreement:
        return TopicAgreement(
            {name: each._replace(format="") for name, each in agreement.feeders.items()}
        )

    with session_with(installation.settings.zookeeper.hosts) as session:
        TopicAgreementStore(session, paths_of(installation)).change(topic, older)


def paths_of(installation: Installation) -> Paths:
    settings = installation.settings
    return Paths.of(settings.zookeeper, settings.installation)


def test_a_changed_format_stops_before_the_topic_is_mixed(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    second = f"{name}-debezium"
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 0, '')")
        wait_until(lambda: formats_of(kafka, name) == ["canal"], "the first row")
        relay.kill()
        configure(installation, topic={"rules": [{"topics": "*", "format": "debezium-json"}]})
        (told,) = (
            each for each in preflight(installation.settings) if each.code == "FORMAT_CHANGED"
        )
        assert told.verdict is Verdict.FAILED
        mariadb.execute(f"insert into {name}.t values (2, 0, '')")
        relay.start()
        status = relay.wait_for("STOPPED", "FORMAT_CHANGED")
        assert (
            status.reason
            == told.sentence
            == "This instance has published messages in the format canal-json to topic "
            f"{name}, and the settings now choose debezium-json. Readers would fail on one of the "
            "two formats."
        )
        # a wiped ZooKeeper changes nothing: the position record has the formats
        relay.kill()
        documents = installation.take_documents()
        installation.wipe()
        installation.put_documents(documents)
        relay.start()
        relay.wait_for("STOPPED", "FORMAT_CHANGED")
        assert formats_of(kafka, name) == ["canal"]
        # the remedy: another topic
        installation.map(topics=[{"logicDb": name, "topic": second}])
        relay.kill()
        relay.start()
        relay.wait_for("RUNNING")
        wait_until(lambda: formats_of(kafka, second) == ["debezium"], "the row in its topic")
        # a mapping edit back to the former topic stops as well
        installation.map_and_wait(topics=[{"logicDb": name, "topic": name}])
        mariadb.execute(f"insert into {name}.t values (3, 0, '')")
        relay.wait_for("STOPPED", "FORMAT_CHANGED")
        # the other remedy: the setting as it was
        configure(installation, topic={})
        relay.kill()
        relay.start()
        relay.wait_for("RUNNING")
        wait_until(lambda: formats_of(kafka, name) == ["canal"] * 2, "the row of the edit")


@pytest.mark.long
def test_a_statement_is_not_published_in_another_format_than_the_rows(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"alter table {name}.t add column w int")
        topic = f"{name}.ddl"
        wait_until(lambda: len(read_records(kafka.bootstrap, topic)) == 1, "the statement")
        relay.stop()
        configure(installation, **DEBEZIUM)
        mariadb.execute(f"alter table {name}.t drop column w")
        relay.start()
        relay.wait_for("STOPPED", "FORMAT_CHANGED")
        assert len(read_records(kafka.bootstrap, topic)) == 1


def test_a_second_instance_with_another_format_waits_and_does_not_affect_the_first(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    (first,) = installation.document["instances"]
    server_id = first["source"]["server_id"]
    one = {**first, "filter": {"filter_regex": f"{name}\\.t"}}
    other = {
        **first,
        **DEBEZIUM,
        "name": "late",
        "filter": {"filter_regex": f"{name}\\.u"},
        "source": {**first["source"], "server_id": server_id + 1},
    }
    installation.document["instances"] = [one, other]
    configure(installation)
    mariadb.execute(f"create table {name}.u (id int primary key)")

    def state_of(instance: str) -> tuple[str, str]:
        found = [each for each in installation.statuses() if each.name == instance]
        return (found[0].state, found[0].code) if found else ("", "")

    with RelayProcess(installation) as relay:
        wait_until(lambda: state_of("shop")[0] == state_of("late")[0] == "RUNNING", "both run")
        mariadb.execute(f"insert into {name}.t values (1, 0, '')")
        wait_until(lambda: formats_of(kafka, name) == ["canal"], "the first row")
        relay.stop()
        forget_formats(installation, name)
        relay.start()
        relay.wait_for("RUNNING")
        # The established instance has no row in this session yet.
        wait_until(lambda: known_format(installation, name) == "canal-json", "the noted format")
        mariadb.execute(f"insert into {name}.u values (1)")
        wait_until(lambda: state_of("late") == ("WAITING", "FORMATS_DIFFER"), "it waits")
        mariadb.execute(f"insert into {name}.t values (2, 0, '')")
        wait_until(lambda: formats_of(kafka, name) == ["canal"] * 2, "the second row")
    assert formats_of(kafka, name) == ["canal"] * 2


def test_a_split_transaction_ends_in_its_format_and_the_next_topic_has_the_other_one(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    settings: dict[str, Any] = {
        "buffer": {"buffer_size": 16, "batch_mode": "ITEMSIZE"},
        "transaction": {"split_bytes": 100_000},
    }
    installation = new_installation(mariadb, kafka, **settings)
    name = installation.name
    second = f"{name}-debezium"
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        installation.limit(SLOWLY)
        rows = f"select seq, 0, repeat('x', 400) from {name}.seq_1_to_{ROWS}"
        mariadb.execute(f"insert into {name}.t {rows}")
        wait_until(lambda: bool(read_records(kafka.bootstrap, name)), "a part")
        relay.kill()
        installation.limit(None)
        part = len(read_records(kafka.bootstrap, name))
        assert part < ROWS, "the kill came too late"
        configure(installation, topic={"rules": [{"topics": "*", "format": "debezium-json"}]})
        relay.start()
        status = relay.wait_for("STOPPED", "HISTORY_CHANGED")
        assert "published under other filter or message settings" in (status.reason or "")
        assert len(read_records(kafka.bootstrap, name)) == part
        relay.kill()
        configure(installation, topic={})
        relay.start()
        relay.wait_for("RUNNING")
        wait_until(lambda: formats_of(kafka, name) == ["canal"] * ROWS, "the other parts")
        relay.kill()
        configure(installation, topic={"rules": [{"topics": second, "format": "debezium-json"}]})
        installation.map(topics=[{"logicDb": name, "topic": second}])
        relay.start()
        mariadb.execute(f"insert into {name}.t values (0, 0, '')")
        wait_until(lambda: formats_of(kafka, second) == ["debezium"], "the row in its topic")
    assert formats_of(kafka, name) == ["canal"] * ROWS


@pytest.mark.long
def test_an_older_relay_between_two_newer_ones_does_not_hide_a_changed_format(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    """It writes the position record without formats, and an agreement that it changes, too."""
    installation = new_installation(mariadb, kafka)
    name = installation.name
    landed = former_version(BEFORE_FORMATS)
    with RelayProcess(installation, "newer") as newer:
        one_more_row(installation, mariadb, kafka, newer, 1)
        newer.kill()
        with RelayProcess(installation, "older", folder=landed) as older:
            one_more_row(installation, mariadb, kafka, older, 2)
        written = KafkaPositionStore(installation.settings.kafka, name, "shop").read()
        assert written is not None
        assert (list(written.partitions), written.formats) == ([name], {})
        forget_formats(installation, name)
        configure(installation, **DEBEZIUM)
        mariadb.execute(f"insert into {name}.t values (3, 0, '')")
        newer.start()
        newer.wait_for("STOPPED", "FORMAT_CHANGED")
        assert formats_of(kafka, name) == ["canal"] * 2
        assert known_format(installation, name) == "canal-json"


def one_more_row(
    installation: Installation, mariadb: MariaDB, kafka: Kafka, relay: RelayProcess, rows: int
) -> None:
    """Insert row number `rows`, and wait until this relay has published it."""
    relay.wait_for("RUNNING")
    mariadb.execute(f"insert into {installation.name}.t values ({rows}, 0, '')")
    wait_until(lambda: formats_of(kafka, installation.name) == ["canal"] * rows, "its row")

"""A key keeps its partition until an operator moves it: an instance with other settings stops, and
a second one of the topic waits.
"""

from typing import Any

import tomli_w
from confluent_kafka.admin import AdminClient, NewPartitions
from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB
from relay.audit import AuditTrail
from relay.cli import app
from relay.kafka import TopicAdmin, TopicSpec
from relay.preflight import Verdict, preflight
from relay.settings import RelaySettings
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until

KEYS = range(1, 201)


def partitions_of(kafka: Kafka, topic: str) -> dict[str, list[int]]:
    """The partitions of each id's rows, in the order of `order`."""
    found: dict[str, list[int]] = {}
    for each in sorted(read_topic(kafka.bootstrap, topic), key=lambda each: each.order):
        found.setdefault((each.value or {})["data"][0]["id"], []).append(each.partition)
    return found


def set_partition(installation: Installation, instance: int = 0, **settings: Any) -> None:
    """Change the partition settings of the configuration file."""
    document = installation.document["instances"][instance]
    document["partition"] = {**document.get("partition", {}), **settings}
    installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")
    installation.settings = RelaySettings.model_validate({**installation.document, "placement": {}})


def raise_partitions(kafka: Kafka, topic: str, number: int) -> None:
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    admin.create_partitions([NewPartitions(topic, number)])[topic].result(20)


def roma(installation: Installation, *arguments: str) -> tuple[int, str]:
    told = CliRunner().invoke(app, [*arguments, "--config", str(installation.file)])
    return told.exit_code, told.output


def test_a_changed_partition_count_stops_until_an_operator_moves_the_keys(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t select seq, 0, '' from {name}.seq_1_to_{KEYS[-1]}")
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == len(KEYS), "the first rows")
        relay.stop()
        set_partition(installation, partitions_num=8)
        (told,) = (
            each for each in preflight(installation.settings) if each.code == "PARTITIONS_CHANGED"
        )
        assert told.verdict is Verdict.FAILED
        mariadb.execute(f"update {name}.t set n = 1")
        relay.start()
        status = relay.wait_for("STOPPED", "PARTITIONS_CHANGED")
        assert (
            status.reason
            == told.sentence
            == f"Rows of topic {name} are placed by 4 partitions, and partitions_num is 8."
        )
        assert len(read_topic(kafka.bootstrap, name)) == len(KEYS)

        move = ["position", "repartition", "shop", "--topic", name]
        code, text = roma(installation, *move, "--yes", "shop")
        assert code == 1
        assert "Raise the topic to 8 partitions first" in text
        raise_partitions(kafka, name, 8)
        code, text = roma(installation, *move, "--preview")
        assert code == 0
        assert "50.0%" in text
        assert "order key" in text
        assert roma(installation, *move, "--partitions", "6", "--preview")[0] == 1
        assert roma(installation, *move, "--yes", "shop", "--comment", "twice the load")[0] == 0
        relay.wait_for("RUNNING")
        wait_until(
            lambda: len(read_topic(kafka.bootstrap, name)) == 2 * len(KEYS),
            "the rows behind the cut",
        )
        assert roma(installation, *move, "--yes", "shop")[0] == 1, "nothing is left to do"
    moved = partitions_of(kafka, name)
    assert all(after in (before, before + 4) for before, after in moved.values())
    assert 0 < sum(before != after for before, after in moved.values()) < len(KEYS)
    entry = AuditTrail(installation.settings.kafka, name).entries(1)[0]
    assert (entry.act, entry.comment, entry.before["partitions"], entry.after["partitions"]) == (
        "position.repartition",
        "twice the load",
        4,
        8,
    )


def test_changed_rules_stop_as_well_and_a_setting_taken_back_is_enough(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 0, '')")
        wait_until(lambda: len(partitions_of(kafka, name)) == 1, "the first row")
        relay.stop()
        set_partition(installation, database_hash=False)
        mariadb.execute(f"insert into {name}.t values (2, 0, '')")
        relay.start()
        assert "database_hash" in relay.wait_for("STOPPED", "PARTITIONS_CHANGED").reason
        relay.stop()
        set_partition(installation, database_hash=True)
        relay.start()
        relay.wait_for("RUNNING")
        wait_until(lambda: len(partitions_of(kafka, name)) == 2, "the second row")


def test_a_compacted_topic_is_never_repartitioned(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka, topic={"retention": "compact"})
    name = installation.name
    TopicAdmin(installation.settings.kafka).create(
        TopicSpec(name, 4, 1, {"cleanup.policy": "compact"})
    )
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 0, '')")
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == 1, "the first row")
    set_partition(installation, partitions_num=8)
    raise_partitions(kafka, name, 8)
    code, text = roma(
        installation, "position", "repartition", "shop", "--topic", name, "--yes", "shop"
    )
    assert code == 1
    assert "compacted" in text


def test_instances_of_one_topic_place_its_rows_alike_or_the_second_one_waits(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name, second = installation.name, {**installation.document["instances"][0], "name": "second"}
    source = {**second["source"], "server_id": second["source"]["server_id"] + 1}
    mariadb.execute(
        f"create database {name}_2",
        f"create table {name}_2.t (id int primary key, n int, v longtext)",
    )
    second |= {
        "source": source,
        "partition": {"partitions_num": 8},
        "filter": {"filter_regex": f"{name}_2\\..*"},
    }
    installation.document["instances"].append(second)
    installation.map(dbs=[{"logicDb": name, "realDbs": f"{name},{name}_2"}])
    TopicAdmin(installation.settings.kafka).create(TopicSpec(name, 8, 1, {"retention.ms": "-1"}))
    set_partition(installation)

    def state_of(instance: str) -> tuple[str, str]:
        return next(
            ((each.state, each.code) for each in installation.statuses() if each.name == instance),
            ("", ""),
        )

    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 0, '')")
        wait_until(
            lambda: len(read_topic(kafka.bootstrap, name)) == 1, "the row of the first instance"
        )
        mariadb.execute(f"insert into {name}_2.t values (2, 0, '')")
        wait_until(
            lambda: state_of("second") == ("WAITING", "PARTITIONS_DIFFER"),
            "the second instance waiting",
            40,
        )
        (told,) = (
            each for each in preflight(installation.settings) if each.code == "PARTITIONS_DIFFER"
        )
        assert (told.verdict, told.instance) == (Verdict.FAILED, "second")
        mariadb.execute(f"insert into {name}.t values (3, 0, '')")
        wait_until(
            lambda: len(read_topic(kafka.bootstrap, name)) == 2,
            "the first instance is not disturbed",
        )

        # Both are changed: whichever comes first joins, and the other one follows by itself.
        relay.stop()
        set_partition(installation, partitions_num=8)
        code, text = roma(
            installation, "position", "repartition", "shop", "--topic", name, "--yes", "shop"
        )
        assert (code, "Of evenly spread keys 50.0%" in text) == (0, True)
        relay.start()
        wait_until(
            lambda: state_of("shop") == state_of("second") == ("RUNNING", ""), "both instances", 40
        )
        wait_until(
            lambda: len(read_topic(kafka.bootstrap, name)) == 3, "the row of the second instance"
        )

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
from relay.state import Paths
from tests.e2e.conftest import NewInstallation
from tests.support.relays.admin_server import TOKEN, admin_client
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.relays.zookeeper_sessions import session_with
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
    admin.create_partitions([NewPartitions(topic, number)])[topic].result(60)


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
            == f"Rows of topic {name} go to 4 partitions, and partitions_num is 8."
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
    # No key moves by accepting another form of a table's keys.
    accept = ["position", "repartition", "shop", "--topic", name, "--table", f"{name}.t"]
    set_partition(installation, partitions_num=4)
    code, text = roma(installation, *accept, "--preview")
    assert (code, "The topic is compacted" in " ".join(text.split())) == (0, True)
    assert roma(installation, *accept, "--yes", "shop")[0] == 0


def add_second(installation: Installation, mariadb: MariaDB, **settings: Any) -> None:
    """A second instance that feeds the topic of the first one from a database of its own."""
    name, first = installation.name, installation.document["instances"][0]
    mariadb.execute(f"create database {name}_2")
    installation.document["instances"].append(
        {
            **first,
            "name": "second",
            "source": {**first["source"], "server_id": first["source"]["server_id"] + 1},
            "filter": {"filter_regex": f"{name}_2\\..*"},
            **settings,
        }
    )
    installation.map(dbs=[{"logicDb": name, "realDbs": f"{name},{name}_2"}])
    set_partition(installation)


def state_of(installation: Installation, instance: str) -> tuple[str, str]:
    return next(
        ((each.state, each.code) for each in installation.statuses() if each.name == instance),
        ("", ""),
    )


def test_instances_of_one_topic_place_its_rows_alike_or_the_second_one_waits(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    TopicAdmin(installation.settings.kafka).create(TopicSpec(name, 8, 1, {"retention.ms": "-1"}))
    add_second(installation, mariadb, partition={"partitions_num": 8})
    mariadb.execute(f"create table {name}_2.t (id int primary key, n int, v longtext)")

    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 0, '')")
        wait_until(
            lambda: len(read_topic(kafka.bootstrap, name)) == 1, "the row of the first instance"
        )
        # An instance that starts later would begin after the row.
        wait_until(
            lambda: state_of(installation, "second") == ("RUNNING", ""), "the second instance"
        )
        mariadb.execute(f"insert into {name}_2.t values (2, 0, '')")
        wait_until(
            lambda: state_of(installation, "second") == ("WAITING", "PARTITIONS_DIFFER"),
            "the second instance waiting",
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
        assert (code, "Of evenly spread keys, 50.0%" in text) == (0, True)
        relay.start()
        wait_until(
            lambda: (
                state_of(installation, "shop")
                == state_of(installation, "second")
                == ("RUNNING", "")
            ),
            "both instances",
        )
        wait_until(
            lambda: len(read_topic(kafka.bootstrap, name)) == 3, "the row of the second instance"
        )


def test_instances_of_one_topic_hash_keys_alike_or_the_second_one_stops(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    """The keys of the second instance have another character set; then those of the first one
    become floating-point numbers.
    """
    installation = new_installation(mariadb, kafka)
    name = installation.name
    add_second(installation, mariadb)
    mariadb.execute(
        f"create table {name}.people (k varchar(20) character set latin1 primary key)",
        f"create table {name}_2.people (k varchar(20) character set utf8mb4 primary key)",
    )

    def rows() -> int:
        return len(read_topic(kafka.bootstrap, name))

    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.people values ('ü')")
        wait_until(lambda: rows() == 1, "the row of the first instance")
        mariadb.execute(f"insert into {name}_2.people values ('ü')")
        wait_until(
            lambda: state_of(installation, "second") == ("STOPPED", "PARTITIONS_CHANGED"),
            "the stop of the second instance",
        )
        (told,) = (each for each in installation.statuses() if each.name == "second")
        assert f"{name}.people" in told.reason
        assert "latin1" in told.reason
        mariadb.execute(f"insert into {name}.t values (1, 0, '')")
        wait_until(lambda: rows() == 2, "the first instance is not disturbed")
        move = ["position", "repartition", "second", "--topic", name, "--table", f"{name}.people"]
        assert roma(installation, *move, "--yes", "second")[0] == 0
        wait_until(lambda: rows() == 3, "the row of the second instance")
        mariadb.execute(
            f"alter table {name}.t modify id double not null", f"update {name}.t set n = 1"
        )
        assert "double" in relay.wait_for("STOPPED", "PARTITIONS_CHANGED").reason
        assert rows() == 3
        move = ["position", "repartition", "shop", "--topic", name, "--table", f"{name}.t"]
        assert roma(installation, *move, "--yes", "shop")[0] == 0
        wait_until(lambda: rows() == 4, "the row with a key of another type")

        # As two instances that differed before a release compared them.
        relay.stop()
        settings = installation.settings
        with session_with(settings.zookeeper.hosts) as session:
            paths = Paths.of(settings.zookeeper, settings.installation)
            session.delete(paths.key_forms(name, f"{name}.people"))
        relay.start()
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}_2.people values ('ä')")
        wait_until(lambda: rows() == 5, "the row of the second instance")
        mariadb.execute(f"insert into {name}.people values ('ä')")
        wait_until(lambda: rows() == 6, "the row of the first instance")
        wait_until(
            lambda: any("utf8" in each.keys_differ for each in installation.statuses()),
            "the warning",
        )


def test_another_character_set_of_a_key_stops_until_an_operator_accepts_that_keys_move(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    """The statement is read after a restart, and another table is swapped in by a rename after
    that.
    """
    installation = new_installation(mariadb, kafka)
    name = installation.name

    def partitions_of_names() -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for each in sorted(read_topic(kafka.bootstrap, name), key=lambda each: each.order):
            if (each.value or {})["table"] == "people":
                found.setdefault((each.value or {})["data"][0]["name"], []).append(each.partition)
        return found

    people = [f"ü{number}" for number in range(12)]
    values = ",".join(f"('{each}', 0)" for each in people)
    mariadb.execute(
        f"create table {name}.people (name varchar(20) character set latin1 primary key, n int)"
    )
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.people values {values}")
        wait_until(lambda: len(partitions_of_names()) == len(people), "the first rows")
        relay.stop()
        before = {key: each[0] for key, each in partitions_of_names().items()}
        mariadb.execute(
            f"alter table {name}.people convert to character set utf8mb4",
            f"update {name}.people set n = 1",
        )
        relay.start()
        status = relay.wait_for("STOPPED", "PARTITIONS_CHANGED")
        assert f"{name}.people" in status.reason
        assert "latin1" in status.reason
        assert "utf8" in status.reason
        assert {key: each[0] for key, each in partitions_of_names().items()} == before
        move = ["position", "repartition", "shop", "--topic", name, "--table", f"{name}.people"]
        code, text = roma(installation, *move, "--preview")
        assert (code, "latin1" in text) == (0, True)
        code, text = roma(installation, *move, "--partitions", "8", "--yes", "shop")
        assert (code, "cannot have another one" in text) == (1, True)
        asked = {"topic": name, "table": f"{name}.people", "partitions": 8, "confirm": "shop"}
        path = "/api/v1/instances/shop/position/repartition"
        api = {"placement": {}, "api": {"port": 0, "token": TOKEN}}
        with admin_client(RelaySettings.model_validate({**installation.document, **api})) as client:
            answers = [client.post(each, json=asked) for each in (f"{path}/preview", path)]
        assert ["cannot have another one" in each.text for each in answers] == [True, True]
        assert roma(installation, *move, "--yes", "shop", "--comment", "utf8mb4")[0] == 0
        relay.wait_for("RUNNING")
        wait_until(
            lambda: all(len(each) == 2 for each in partitions_of_names().values()), "all updates"
        )
        assert any(first != second for first, second in partitions_of_names().values())
        mariadb.execute(
            f"create table {name}.swapped like {name}.people",
            f"alter table {name}.swapped modify name varchar(20) character set gbk",
            f"insert into {name}.swapped values ('ü', 0)",
            f"rename table {name}.people to {name}.old, {name}.swapped to {name}.people",
            f"update {name}.people set n = 1",
        )
        assert "gbk" in relay.wait_for("STOPPED", "PARTITIONS_CHANGED").reason

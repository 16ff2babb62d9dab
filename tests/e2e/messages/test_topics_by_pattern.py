"""Topics by pattern on a real broker: made with the partitions and the retention of their rule,
and compacted topics beside statements and tables without a key.
"""

from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource

from deploy.embedded import Kafka, MariaDB
from relay.preflight import Verdict, preflight
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import read_topic, topic_answers
from tests.support.waiting import wait_until


def form(kafka: Kafka, topic: str) -> tuple[int, str, str]:
    """Partitions, cleanup policy and retention of a topic, as the broker tells them."""
    client = AdminClient({"bootstrap.servers": kafka.bootstrap})
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    settings = client.describe_configs([resource])[resource].result(60)
    partitions = client.list_topics(topic, timeout=10).topics[topic].partitions
    return len(partitions), settings["cleanup.policy"].value, settings["retention.ms"].value


def test_each_table_has_its_topic_with_the_partitions_and_retention_of_its_rule(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    settings: dict[str, Any] = {
        "partition": {"partitions_num": 2},
        "topic": {
            "rules": [
                {"topics": "*.t", "partitions_num": 5, "retention": "compact"},
                {"topics": "*.hours", "retention": "72h"},
            ]
        },
    }
    installation = new_installation(mariadb, kafka, **settings)
    name = installation.name
    installation.map(topics=[{"logicDb": name, "topic": "{db}.{table}"}])
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(
            f"insert into {name}.t values (1, 1, 'a')",
            f"alter table {name}.t comment 'second'",
            f"insert into {name}.t values (2, 2, 'b')",
            f"create table {name}.hours (id int primary key)",
            f"create table {name}.gone (id int primary key)",
            f"insert into {name}.gone values (1)",
            f"insert into {name}.hours values (1)",
        )
        wait_until(lambda: topic_answers(kafka.bootstrap, f"{name}.hours"), "the last topic")
        wait_until(lambda: len(read_topic(kafka.bootstrap, f"{name}.hours")) == 1, "its row")
        assert form(kafka, f"{name}.t")[:2] == (5, "compact")
        assert form(kafka, f"{name}.hours") == (2, "delete", str(72 * 3_600_000))
        rows = read_topic(kafka.bootstrap, f"{name}.t")
        assert sorted((each.value or {})["data"][0]["id"] for each in rows) == ["1", "2"]
        (statement,) = read_topic(kafka.bootstrap, f"{name}.t.ddl")
        assert (statement.value or {})["type"] == "ALTER"

        mariadb.execute(f"drop table {name}.gone, {name}.hours, {name}.t")
        wait_until(lambda: len(read_topic(kafka.bootstrap, f"{name}.t.ddl")) == 2, "its end")
        for table in ("hours", "t"):
            last = read_topic(kafka.bootstrap, f"{name}.{table}.ddl")[-1].value or {}
            assert (last["type"], last["table"]) == ("ERASE", table)

        # The next session knows the tables from ZooKeeper, and a topic was given up.
        wait_until(lambda: f"{name}.hours" in installation.tables(), "the noted tables")
        relay.stop()
        lost = [f"{name}.gone", f"{name}.gone.ddl"]
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
        for deleted in admin.delete_topics(lost).values():
            deleted.result(60)
        relay.start()
        relay.wait_for("RUNNING")
        mariadb.execute(
            f"drop database {name}",
            f"create database {name}",
            f"create table {name}.t (id int primary key)",
        )
        for table in ("hours", "t"):
            wait_until(
                lambda: any(
                    (each.value or {})["sql"].startswith("drop database")
                    for each in read_topic(kafka.bootstrap, f"{name}.{table}.ddl")  # noqa: B023
                ),
                f"the end of the database in the topic of {table}",
            )
        mariadb.execute(
            f"create table {name}.a$b (id int primary key)", f"insert into {name}.a$b values (1)"
        )
        status = relay.wait_for("STOPPED", "UNMAPPED_NAME")
        assert f"{name}.a$b" in status.reason


@pytest.mark.parametrize("ddl", ["topic", "barrier"])
def test_a_compacted_topic_takes_statements_and_names_a_table_without_a_key(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, ddl: str
) -> None:
    settings: dict[str, Any] = {
        "topic": {"retention": "compact"},
        "message": {"ddl": ddl},
        "partition": {"partitions_num": 2},
    }
    installation = new_installation(mariadb, kafka, **settings)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(
            f"insert into {name}.t values (1, 1, 'a')",
            f"alter table {name}.t comment 'second'",
            f"insert into {name}.t values (2, 2, 'b')",
        )
        topics = [name, f"{name}.ddl"] if ddl == "topic" else [name]
        wanted = {"topic": 3, "barrier": 4}[ddl]
        wait_until(
            lambda: sum(len(read_topic(kafka.bootstrap, each)) for each in topics) == wanted,
            f"rows and statement: {installation.status()}",
        )
        mariadb.execute(
            f"create table {name}.keyless (n int)", f"insert into {name}.keyless values (1)"
        )
        status = relay.wait_for("STOPPED", "TOPIC_REFUSED")
        assert f"{name}.keyless has no key" in status.reason
        rows = [each.value or {} for each in read_topic(kafka.bootstrap, name)]
        assert sorted(each["table"] for each in rows if not each["isDdl"]) == ["t", "t"]


def test_tables_whose_topic_is_taken_stop_by_name_and_another_name_is_the_way_out(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    """Kafka takes `t.ddl` and `t_ddl` for one metric; `audit` is the installation's own topic."""
    installation = new_installation(mariadb, kafka)
    name = installation.name
    installation.map(topics=[{"logicDb": name, "topic": "{db}.{table}"}])
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(
            f"insert into {name}.t values (1, 1, 'a')",
            f"create table {name}.t_ddl (id int primary key)",
            f"insert into {name}.t_ddl values (1)",
        )
        status = relay.wait_for("STOPPED", "TOPIC_REFUSED")
        assert f"collides with existing topic: {name}.t.ddl" in status.reason
        assert "dots and underscores" in status.remedy
        assert len(read_topic(kafka.bootstrap, f"{name}.t")) == 1
        relay.kill()
        installation.map(tbs=[{"logicTb": "second", "realTbs": "t_ddl"}])
        relay.start()
        relay.wait_for("RUNNING")
        wait_until(lambda: topic_answers(kafka.bootstrap, f"{name}.second"), "its topic")
        wait_until(lambda: len(read_topic(kafka.bootstrap, f"{name}.second")) == 1, "its row")

        mariadb.execute(
            f"create table {name}.audit (id int primary key)",
            f"insert into {name}.audit values (1)",
        )
        status = relay.wait_for("STOPPED", "TOPIC_REFUSED")
        assert f"to {name}.audit, which has the installation's own records" in status.reason
        assert [
            each.code for each in preflight(installation.settings) if each.code == "TOPIC_REFUSED"
        ] == []
        installation.map(
            tbs=[
                {"logicTb": "second", "realTbs": "t_ddl"},
                {"logicTb": "audit", "realTbs": "audit"},
            ]
        )
        told = [each for each in preflight(installation.settings) if each.code == "TOPIC_REFUSED"]
        assert [each.verdict for each in told] == [Verdict.FAILED], "a listed table is known"

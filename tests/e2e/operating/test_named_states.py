"""Promise 6: honest stops.

Each bad thing ends in a state with a name, a reason and a way out, and nothing is lost.
"""

from collections.abc import Callable

import pytest
from confluent_kafka.admin import AdminClient
from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB
from relay.audit import AuditTrail
from relay.cli import app
from relay.kafka import TopicAdmin, TopicSpec
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import read_topic, topic_answers
from tests.support.waiting import wait_until


def rows(kafka: Kafka, topic: str) -> list[int]:
    """The ids of all rows that a committed reader sees."""
    return sorted(
        int((each.value or {})["data"][0]["id"]) for each in read_topic(kafka.bootstrap, topic)
    )


def test_a_message_too_large_stops_the_instance_and_shows_nothing_of_its_transaction(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'fits')")
        wait_until(lambda: rows(kafka, name) == [1], "the first row")
        mariadb.execute(f"insert into {name}.t values (2, 1, 'fits'), (3, 1, repeat('x', 1500000))")
        status = relay.wait_for("STOPPED", "MESSAGE_TOO_LARGE")
        assert "message_max_bytes" in status.remedy
        assert rows(kafka, name) == [1]


def test_a_deleted_position_topic_is_never_taken_for_a_fresh_start(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {installation.name}.t values (1, 1, 'a')")
        wait_until(lambda: rows(kafka, installation.name) == [1], "the first row")
        assert relay.stop() == 0
        topic = f"{installation.name}.position.shop"
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
        admin.delete_topics([topic])[topic].result(60)
        relay.start()
        status = relay.wait_for("STOPPED", "POSITION_LOST")
        assert status.reason


@pytest.mark.parametrize("stem", ["{name}", "{name}.position.shop"], ids=["rows", "positions"])
def test_a_topic_that_is_deleted_while_rows_flow_is_never_called_a_broker_that_is_away(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, stem: str
) -> None:
    installation = new_installation(mariadb, kafka, transaction={"timeout_ms": 4000})
    name, topic = installation.name, stem.format(name=installation.name)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'a')")
        wait_until(lambda: rows(kafka, name) == [1], "the first row")
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
        admin.delete_topics([topic])[topic].result(60)
        mariadb.execute(f"insert into {name}.t values (2, 1, 'b')")
        wait_until(
            lambda: (found := installation.status()) is not None and found.state == "STOPPED",
            "the stop",
        )
        status = installation.status()
        assert status is not None
        assert status.code in ("TOPIC_REFUSED", "POSITION_LOST")
        assert topic in status.reason
        assert "BROKER_UNREACHABLE" not in relay.log.read_text()


def test_a_topic_of_statements_or_heartbeats_that_alone_is_deleted_is_made_again(
    mariadb: MariaDB,
    kafka: Kafka,
    new_installation: NewInstallation,
    fresh_name: Callable[[str], str],
) -> None:
    beats = fresh_name("beats")
    installation = new_installation(
        mariadb,
        kafka,
        transaction={"timeout_ms": 4000},
        heartbeat={"topic": beats, "interval_seconds": 1},
    )
    name = installation.name
    statements = f"{name}.ddl"
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})

    def delete(topic: str) -> None:
        admin.delete_topics([topic])[topic].result(60)

    def written(topic: str) -> list[str]:
        if not topic_answers(kafka.bootstrap, topic):
            return []
        return [str(each.value) for each in read_topic(kafka.bootstrap, topic)]

    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(
            f"insert into {name}.t values (1, 1, 'a')", f"alter table {name}.t comment 'first'"
        )
        wait_until(lambda: len(written(statements)) == 1, "the first statement")
        delete(statements)
        mariadb.execute(
            f"alter table {name}.t comment 'second'", f"insert into {name}.t values (2, 1, 'b')"
        )
        wait_until(lambda: rows(kafka, name) == [1, 2], "the row behind the statement")
        (statement,) = written(statements)
        assert "second" in statement
        delete(beats)
        wait_until(lambda: len(written(beats)) > 1, "heartbeats in a new topic")
        mariadb.execute(f"insert into {name}.t values (3, 1, 'c')")
        wait_until(lambda: rows(kafka, name) == [1, 2, 3], "the last row")
        assert "TOPIC_REFUSED" not in relay.log.read_text()


def test_a_deleted_topic_is_not_made_anew_as_if_nothing_had_been_there(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'a')")
        wait_until(lambda: rows(kafka, name) == [1], "the first row")
        assert relay.stop() == 0
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
        admin.delete_topics([name])[name].result(60)
        mariadb.execute(f"insert into {name}.t values (2, 1, 'b')")
        relay.start()
        status = relay.wait_for("STOPPED", "TOPIC_REFUSED")
        assert "was deleted with its rows" in status.reason
        assert "4 partitions" in status.remedy
        TopicAdmin(installation.settings.kafka).create(
            TopicSpec(name, 4, 1, {"retention.ms": "-1"})
        )
        started = CliRunner().invoke(
            app,
            [
                "instance",
                "start",
                "shop",
                "--config",
                str(installation.file),
                "--comment",
                "topic made",
            ],
        )
        assert (started.exit_code, started.output) == (0, "shop starts again.\n")
        relay.wait_for("RUNNING")
        (entry,) = AuditTrail(installation.settings.kafka, name).entries(1, "shop")
        assert (entry.act, entry.comment) == ("instance.started", "topic made")
        wait_until(lambda: rows(kafka, name) == [2], "the row that was not published yet")


@pytest.mark.long
def test_a_broker_that_comes_back_loses_and_repeats_nothing(
    mariadb: MariaDB, new_kafka: Callable[..., Kafka], new_installation: NewInstallation
) -> None:
    broker = new_kafka()
    installation = new_installation(mariadb, broker)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        for number in range(1, 300):
            mariadb.execute(f"insert into {name}.t values ({number}, 1, 'a')")
            if number == 100:
                broker.kill()
            if number == 200:
                broker.start()
        wait_until(lambda: rows(broker, name) == list(range(1, 300)), "every row once")


def test_a_mapping_takes_over_between_two_transactions_and_a_broken_one_is_ignored(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'a')")
        wait_until(lambda: rows(kafka, name) == [1], "the first row")
        installation.map_and_wait(topics=[{"logicDb": name, "topic": f"{name}-b"}])
        mariadb.execute(f"insert into {name}.t values (2, 1, 'b')")
        installation.map(topics=[{"logicDb": name, "topic": "not a topic"}])
        mariadb.execute(f"insert into {name}.t values (3, 1, 'c')")
        wait_until(
            lambda: (found := installation.status()) is not None and bool(found.mapping_problem),
            "the broken set named",
        )
        wait_until(
            lambda: rows(kafka, f"{name}-b") == [2, 3],
            f"rows in the new topic, {rows(kafka, name)} {rows(kafka, name + '-b')}",
        )
        assert rows(kafka, name) == [1]

"""Rows are published under the mapping set that the position record names, whatever ZooKeeper has
lost or holds instead.
"""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from relay.audit import AuditTrail
from relay.cli import app
from relay.operations import highest_recorded_set
from relay.preflight import Verdict, preflight
from tests.e2e.conftest import NewInstallation
from tests.e2e.delivery.test_giant_transaction import ROWS
from tests.e2e.operating.test_rollback_and_replay import operator_of
from tests.support.relays.half_published import half_published
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic, topic_answers
from tests.support.sources.counting_load import binlog_end
from tests.support.waiting import wait_until


def ids(kafka: Kafka, topic: str) -> list[int]:
    """The ids of all rows that a committed reader sees; none before the topic is there."""
    if not topic_answers(kafka.bootstrap, topic):
        return []
    return sorted(
        int((each.value or {})["data"][0]["id"]) for each in read_topic(kafka.bootstrap, topic)
    )


def dbs(name: str) -> list[dict[str, str]]:
    return [{"logicDb": name, "realDbs": name}]


def topics(name: str, topic: str) -> list[dict[str, str]]:
    return [{"logicDb": name, "topic": topic}]


def test_documents_that_are_saved_one_by_one_after_a_wipe_lose_no_row(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 0, '')")
        wait_until(lambda: ids(kafka, name) == [1], "the first row")
        relay.kill()
        installation.wipe()
        mariadb.execute(f"insert into {name}.t values (2, 0, '')")
        installation.map(topics=topics(name, name))
        relay.start()
        status = relay.wait_for("WAITING", "MAPPING_LOST")
        assert "mapping set 1" in status.reason
        (told,) = (each for each in preflight(installation.settings) if each.code == "MAPPING_LOST")
        assert (told.verdict, told.sentence) == (Verdict.FAILED, status.reason)
        mariadb.execute(f"insert into {name}.t values (3, 0, '')")
        installation.map(dbs=dbs(name))
        relay.wait_for("RUNNING")
        wait_until(lambda: ids(kafka, name) == [1, 2, 3], "every row once")
        # From here on an edit is an edit again.
        installation.map_and_wait(topics=topics(name, f"{name}-b"))
        mariadb.execute(f"insert into {name}.t values (4, 0, '')")
        wait_until(lambda: ids(kafka, f"{name}-b") == [4], "the row behind the edit")


def test_a_half_published_transaction_ends_under_its_own_set_although_zookeeper_lost_it(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka, transaction={"split_bytes": 1_000_000})
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        half_published(mariadb, kafka, relay, name, ROWS)
        installation.wipe()
        installation.map(topics=topics(name, f"{name}-b"), dbs=dbs(name))
        mariadb.execute(f"insert into {name}.t values (0, 0, 'last')")
        relay.start()
        relay.wait_for("WAITING", "MAPPING_LOST", 90)
        assert ids(kafka, name) == list(range(1, ROWS + 1)), (
            "the whole transaction, under the set that it began under"
        )
        assert ids(kafka, f"{name}-b") == []

        def accept(*arguments: str) -> str:
            told = CliRunner().invoke(
                app, ["mapping", "accept", "shop", "--config", str(installation.file), *arguments]
            )
            assert told.exit_code == 0, told.output
            return told.output

        assert f"moved from topic {name} to topic {name}-b" in accept("--preview")
        assert relay.wait_for("WAITING", "MAPPING_LOST").mapping_set == 1
        assert "from now on" in accept("--yes", "shop", "--comment", "ZooKeeper was rebuilt")
        relay.wait_for("RUNNING")
        wait_until(
            lambda: ids(kafka, f"{name}-b") == [0],
            "the row behind the transaction, under the accepted set",
        )
        assert ids(kafka, name) == list(range(1, ROWS + 1))
        assert "nothing to accept" in accept("--preview")
    entry = AuditTrail(installation.settings.kafka, name).entries(1)[0]
    assert (
        entry.act,
        entry.comment,
        entry.before["mapping_digest"] != entry.after["mapping_digest"],
    ) == (
        "mapping.accept",
        "ZooKeeper was rebuilt",
        True,
    )


@pytest.mark.long
def test_what_follows_a_resumed_transaction_is_published_under_the_newest_set(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka, transaction={"split_bytes": 1_000_000})
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        half_published(mariadb, kafka, relay, name, ROWS)
        installation.map(topics=topics(name, f"{name}-b"))
        mariadb.execute(f"insert into {name}.t values (0, 0, 'last')")
        relay.start()
        wait_until(
            lambda: ids(kafka, f"{name}-b") == [0],
            "the row behind the transaction, under the new set",
            90,
        )
        assert ids(kafka, name) == list(range(1, ROWS + 1))
        status = installation.status()
        assert status is not None
        assert (status.state, status.mapping_set, status.mapping_problem) == ("RUNNING", 2, "")


def test_a_first_start_waits_for_a_mapping_and_moves_no_position(
    mariadb: MariaDB,
    kafka: Kafka,
    zookeeper: ZooKeeper,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
) -> None:
    name = fresh_name("unmapped").replace("-", "_")
    mariadb.execute(
        "flush binary logs",
        f"create database {name}",
        f"create table {name}.t (id int primary key, n int, v longtext)",
    )
    binlog, _ = binlog_end(mariadb)
    only_this = {"filter_regex": f"{name}\\..*"}
    with closing(
        Installation(
            name,
            tmp_path,
            mariadb,
            kafka,
            zookeeper,
            filter=only_this,
            start={"journal_name": binlog},
        )
    ) as installation:
        mariadb.execute(f"insert into {name}.t values (1, 0, '')")
        with RelayProcess(installation) as relay:
            status = relay.wait_for("WAITING", "MAPPING_MISSING")
            assert "no mapping" in status.reason
            installation.map(topics=topics(name, name))
            status = relay.wait_for("WAITING", "MAPPING_MISSING")
            assert not status.position_file
            installation.map(dbs=dbs(name))
            relay.wait_for("RUNNING")
            wait_until(lambda: ids(kafka, name) == [1], "the row of before the mapping")


def test_sets_over_an_older_zookeeper_get_numbers_that_no_row_was_published_under(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    operate = operator_of(installation)

    def recorded() -> int:
        return highest_recorded_set(installation.settings)

    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        older = installation.take_documents()
        installation.map(topics=topics(name, f"{name}-b"))
        mariadb.execute(f"insert into {name}.t values (1, 0, '')")
        wait_until(lambda: ids(kafka, f"{name}-b") == [1], "the row under set 2")
        relay.kill()
        installation.wipe()
        installation.put_documents(older)
        relay.start()
        relay.wait_for("WAITING", "MAPPING_LOST")
        operate("mapping", "accept", "shop", "--yes", "shop", "--comment", "an older state")
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (2, 0, '')")
        wait_until(lambda: ids(kafka, name) == [2], "the row under set 1")
        assert recorded() == 2, "the record names set 1 now, and set 2 was used"
        operate("mapping", "rollback", "1", "--yes", name)  # equal documents
        assert installation.mapping_number() == 3
        wait_until(lambda: recorded() == 3, "set 3 in a record")
        mariadb.execute(f"insert into {name}.t values (3, 0, '')")
        wait_until(lambda: ids(kafka, name) == [2, 3], "the row under set 3")

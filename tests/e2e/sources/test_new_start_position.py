"""What the pages of docs/operations say of a lost position and of the documents' backup over HTTP
works as written.
"""

from contextlib import closing

import httpx
from confluent_kafka.admin import AdminClient
from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from relay.cli import app
from relay.kafka import TopicAdmin
from relay.preflight import preflight
from relay.settings import KafkaSettings
from tests.e2e.conftest import NewInstallation
from tests.e2e.operating.test_format_kept import configure
from tests.e2e.operating.test_rollback_and_replay import operator_of
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic
from tests.support.waiting import wait_until

_GROUP = "/api/v1/configs/ROMA_GROUP"


def _lose_position(installation: Installation, kafka: Kafka) -> None:
    topic = f"{installation.name}.position.shop"
    client = AdminClient({"bootstrap.servers": kafka.bootstrap})
    client.delete_topics([topic])[topic].result(60)
    settings = KafkaSettings(bootstrap_servers=kafka.bootstrap)
    wait_until(lambda: TopicAdmin(settings).state(topic) is None, "the position topic deleted")


def _place(mariadb: MariaDB) -> tuple[str, str]:
    with closing(mariadb.connect()) as connection, connection.cursor() as cursor:
        cursor.execute("show master status")
        row = cursor.fetchone() or ("", 0)
        return str(row[0]), str(row[1])


def _ids(seen: list[Seen]) -> list[str]:
    return [
        (each.value or {})["data"][0]["id"] for each in sorted(seen, key=lambda each: each.order)
    ]


def test_an_instance_whose_position_is_lost_begins_where_an_operator_says(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 0, 'published')")
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == 1, "the first row")
        assert relay.stop() == 0
        mariadb.execute(f"insert into {name}.t values (2, 0, 'left out on purpose')")
        _lose_position(installation, kafka)
        relay.start()
        relay.wait_for("STOPPED", "POSITION_LOST")
        file, offset = _place(mariadb)
        move = [
            "position",
            "set",
            "shop",
            "--file",
            file,
            "--offset",
            offset,
            "--yes",
            "shop",
            "--config",
            str(installation.file),
        ]
        assert CliRunner().invoke(app, move).exit_code == 1, (
            "a position that is lost is never guessed"
        )
        done = CliRunner().invoke(app, [*move, "--as-new"])
        assert done.exit_code == 0, done.output
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (3, 0, 'published')")
        wait_until(
            lambda: len(read_topic(kafka.bootstrap, name)) == 2, "the row behind the new start"
        )
    assert _ids(read_topic(kafka.bootstrap, name)) == ["1", "3"]


def test_an_instance_that_begins_again_keeps_format_and_partitions_of_its_topics(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 0, '')")
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == 1, "the first row")
        assert relay.stop() == 0
        _lose_position(installation, kafka)
        configure(installation, message={"format": "debezium-json"})
        file, offset = _place(mariadb)
        begin = ["position", "set", "shop", "--file", file, "--offset", offset, "--as-new"]
        operator_of(installation)(*begin, "--yes", "shop")
        relay.start()
        mariadb.execute(f"insert into {name}.t values (2, 0, '')")
        relay.wait_for("STOPPED", "FORMAT_CHANGED")
        relay.kill()
        configure(installation, message={}, partition={"partitions_num": 7})
        told = [each.code for each in preflight(installation.settings)]
        assert "PARTITIONS_CHANGED" in told
        relay.start()
        status = relay.wait_for("STOPPED", "PARTITIONS_CHANGED")
        assert "the position record does not name the topic" in status.reason
        relay.kill()
        configure(installation, partition={"partitions_num": 4})
        relay.start()
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == 2, "the second row")


def test_mapping_documents_are_restored_from_their_backup(
    zookeeper: ZooKeeper, kafka: Kafka, fresh_name: FreshName
) -> None:
    documents = {
        "com.pajk.Roma.dbs": [{"logicDb": "a", "realDbs": "b"}],
        "com.pajk.Roma.topics": [{"logicDb": "a", "topic": "t"}],
    }
    brokers = {"bootstrap_servers": kafka.bootstrap}
    settings = admin_settings(zookeeper.hosts, fresh_name("backup"), kafka=brokers)
    with admin_client(settings) as admin:
        wait_until(
            lambda: admin.get("/readyz").status_code == httpx.codes.OK,
            "the admin to reach ZooKeeper",
        )
        admin.put(_GROUP, json=documents).raise_for_status()
        backup = admin.get(_GROUP).content
        admin.put(_GROUP, json={}, headers={"If-Match": "*"}).raise_for_status()
        assert admin.get(_GROUP).json() == {}
        # As curl sends it with -d: the body is JSON, the header says otherwise.
        headers = {"If-Match": "*", "Content-Type": "application/x-www-form-urlencoded"}
        admin.put(_GROUP, content=backup, headers=headers).raise_for_status()
        assert admin.get(_GROUP).json() == documents

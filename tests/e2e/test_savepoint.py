"""Rows that the source rolled back are never published, although they stand in its binlog."""

from deploy.embedded import Kafka, MariaDB
from tests.e2e.conftest import NewInstallation
from tests.support.relay_process import RelayProcess
from tests.support.topic_reading import read_topic
from tests.support.waiting import wait_until


def test_a_rolled_back_savepoint_leaves_nothing_behind(mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation) as relay, mariadb.connect(user="repl") as connection:
        relay.wait_for("RUNNING")
        with connection.cursor() as cursor:
            cursor.execute(f"create temporary table {name}.scratch (a int) engine=myisam")
            cursor.execute("begin")
            cursor.execute(f"insert into {name}.t values (1, 1, 'kept')")
            cursor.execute("savepoint s")
            cursor.execute(f"insert into {name}.t values (2, 1, 'gone')")
            cursor.execute(f"insert into {name}.scratch values (1)")
            cursor.execute("rollback to savepoint s")
            cursor.execute(f"insert into {name}.t values (3, 1, 'kept')")
        connection.commit()
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) >= 2, "both rows", 30)
        seen = read_topic(kafka.bootstrap, name)
    assert [(each.value or {})["data"][0]["id"] for each in sorted(seen, key=lambda each: each.order)] == ["1", "3"]

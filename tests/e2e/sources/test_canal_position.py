"""The step of docs/canal/same-topics.md that finds the beginning of a transaction behind Canal's
position.
"""

from typing import Any

from deploy.embedded import Kafka, MariaDB
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.relays.start_settings import start_at
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until


def _asked(mariadb: MariaDB, sql: str, *arguments: object) -> list[tuple[Any, ...]]:
    with mariadb.connect() as connection, connection.cursor() as cursor:
        cursor.execute(sql, arguments)
        return list(cursor.fetchall())


def _xid_behind(mariadb: MariaDB, file: str, offset: int) -> tuple[int, int]:
    """Begin and end of the next Xid event: columns Log_name, Pos, Event_type, Server_id,
    End_log_pos.
    """
    shown = _asked(mariadb, "SHOW BINLOG EVENTS IN %s FROM %s LIMIT 20", file, offset)
    return next((row[1], row[4]) for row in shown if row[2] == "Xid")


def _place(mariadb: MariaDB) -> tuple[str, int]:
    file, offset = _asked(mariadb, "SHOW MASTER STATUS")[0][:2]
    return str(file), int(offset)


def test_a_start_at_the_end_event_is_a_stop_before_any_row(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    table = f"{installation.name}.t"
    file, offset = _place(mariadb)
    mariadb.execute(
        f"insert into {table} values (1, 0, 'sent by Canal')",
        f"insert into {table} values (2, 0, 'not yet')",
    )
    at = _xid_behind(mariadb, file, offset)[0]
    start_at(installation.file, at="position", journal_name=file, position=at)
    with RelayProcess(installation) as relay:
        relay.wait_for("STOPPED", "CORRUPT_EVENT")
    assert read_topic(kafka.bootstrap, installation.name) == []


def test_a_start_behind_the_end_event_goes_on_with_the_next_transaction(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    table = f"{installation.name}.t"
    file, offset = _place(mariadb)
    mariadb.execute(
        f"insert into {table} values (1, 0, 'sent by Canal')",
        f"insert into {table} values (2, 0, 'not yet')",
    )
    behind = _xid_behind(mariadb, file, offset)[1]
    start_at(installation.file, at="position", journal_name=file, position=behind)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        wait_until(
            lambda: len(read_topic(kafka.bootstrap, installation.name)) == 1,
            "the row behind Canal's position",
        )
    assert [
        (each.value or {})["data"][0]["id"]
        for each in read_topic(kafka.bootstrap, installation.name)
    ] == ["2"]

"""Sources that log parts of rows: refused by default, and published as what they are where the instance asks for it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from deploy.embedded import Kafka, SqlServer
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic
from tests.support.waiting import wait_until


@contextmanager
def images(server: SqlServer, value: str) -> Iterator[None]:
    server.execute(f"set global binlog_row_image = {value}")
    try:
        yield
    finally:
        server.execute("set global binlog_row_image = FULL")


def said(seen: Seen) -> tuple[object, ...]:
    assert seen.value is not None
    return seen.value["type"], seen.value["data"][0], (seen.value["old"] or [None])[0], seen.unknown


@pytest.mark.timeout(120)
@pytest.mark.parametrize("family", ["mysql_9", "mariadb"])
def test_absent_columns_are_absent_and_the_key_is_always_there(
    family: str, request: pytest.FixtureRequest, kafka: Kafka, new_installation: NewInstallation
) -> None:
    server: SqlServer = request.getfixturevalue(family)
    installation = new_installation(server, kafka, message={"row_image": "partial"})
    name = installation.name
    with images(server, "MINIMAL"), RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        server.execute(
            f"insert into {name}.t values (1, 10, 'a')",
            f"update {name}.t set n = 11 where id = 1",
            f"update {name}.t set id = 2 where id = 1",
            f"delete from {name}.t where id = 2",
            "set session binlog_row_image = NOBLOB",
            f"insert into {name}.t values (3, 30, 'c')",
            f"update {name}.t set n = 31 where id = 3",
            f"update {name}.t set v = 'd' where id = 3",
        )
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) >= 8, "8 messages", 40)
    seen = sorted(read_topic(kafka.bootstrap, name), key=lambda each: each.order)
    assert [said(each) for each in seen] == [
        ("INSERT", {"id": "1", "n": "10", "v": "a"}, None, None),
        ("UPDATE", {"id": "1", "n": "11"}, {}, {"data": ["v"], "old": ["n"]}),
        ("DELETE", {"id": "1"}, None, {"data": ["n", "v"]}),
        ("INSERT", {"id": "2"}, None, {"data": ["n", "v"]}),
        ("DELETE", {"id": "2"}, None, {"data": ["n", "v"]}),
        ("INSERT", {"id": "3", "n": "30", "v": "c"}, None, None),
        ("UPDATE", {"id": "3", "n": "31"}, {"n": "30"}, {"data": ["v"], "old": []}),
        ("UPDATE", {"id": "3", "n": "31", "v": "d"}, {}, {"data": [], "old": ["v"]}),
    ]
    assert len({each.partition for each in seen if each.key == seen[0].key}) == 1
    assert [each.key for each in seen] == [f'["{name}.t","{key}"]'.encode() for key in (1, 1, 1, 2, 2, 3, 3, 3)]


def test_a_session_that_logs_parts_of_rows_stops_an_instance_that_wants_whole_ones(
    mariadb: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(
            f"insert into {name}.t values (1, 10, 'a')",
        )
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == 1, "the whole row", 40)
        mariadb.execute("set session binlog_row_image = MINIMAL", f"update {name}.t set n = 11 where id = 1")
        status = relay.wait_for("STOPPED", "ROW_IMAGE_INCOMPLETE")
    assert "row_image='partial'" in f"{status}"
    assert [(each.value or {})["type"] for each in read_topic(kafka.bootstrap, name)] == ["INSERT"]

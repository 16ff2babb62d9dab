"""Sources that log parts of rows: refused by default, and published as what they are where the
instance asks for it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import tomli_w

from deploy.embedded import Kafka, SqlServer
from deploy.embedded.releases import MariaDB118
from relay.preflight import Finding, Verdict
from relay.preflight.generated_checks import check_generated_columns
from relay.settings import RelaySettings
from tests.e2e.conftest import NewInstallation
from tests.servers.availability import require
from tests.servers.running import running
from tests.support.relays.relay_process import Installation, RelayProcess
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
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) >= 8, "8 messages")
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
    assert [each.key for each in seen] == [
        f'["{name}.t","{key}"]'.encode() for key in (1, 1, 1, 2, 2, 3, 3, 3)
    ]


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
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == 1, "the whole row")
        mariadb.execute(
            "set session binlog_row_image = MINIMAL", f"update {name}.t set n = 11 where id = 1"
        )
        status = relay.wait_for("STOPPED", "ROW_IMAGE_INCOMPLETE")
    assert "row_image = 'partial'" in status.remedy
    assert [(each.value or {})["type"] for each in read_topic(kafka.bootstrap, name)] == ["INSERT"]


def foretold(installation: Installation) -> Finding:
    """What preflight says of generated columns under the settings that the file has now."""
    settings = RelaySettings.model_validate(installation.document)
    return check_generated_columns(settings.instances[0], None)


def test_a_server_that_logs_generated_columns_is_not_warned_of(
    mariadb: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    mariadb.execute(
        f"create table {installation.name}.g (id int primary key, s int as (id + 1) stored)"
    )
    assert foretold(installation).verdict is Verdict.PASSED


@pytest.mark.long
def test_unlogged_generated_columns_stop_an_instance_until_a_rule_omits_them(
    kafka: Kafka, new_installation: NewInstallation
) -> None:
    require(MariaDB118)
    with running(MariaDB118()) as server:
        installation = new_installation(server, kafka)
        name = installation.name
        stored = (
            f"create table {name}.g (id int primary key, a int, s int as (a + 1) stored, v int as "
            f"(a + 2) virtual)"
        )
        with RelayProcess(installation) as relay:
            relay.wait_for("RUNNING")
            server.execute(stored, f"insert into {name}.g (id, a) values (1, 1), (2, 2)")
            wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == 2, "the whole rows")
            server.execute(
                f"update {name}.g set a = 5 where id = 1", f"delete from {name}.g where id = 2"
            )
            status = relay.wait_for("STOPPED", "ROW_IMAGE_INCOMPLETE")
            assert "lacks columns: s, v" in f"{status}"
        assert f"updates and deletes: {name}.g.s, {name}.g.v." in foretold(installation).sentence
        installation.document["instances"][0]["rules"] = [
            {"tables": f"{name}\\.g", "without_fields": ["s", "v"]}
        ]
        installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")
        assert foretold(installation).verdict is Verdict.PASSED
        with RelayProcess(installation) as relay:
            wait_until(lambda: len(read_topic(kafka.bootstrap, name)) >= 4, "4 messages")
    seen = sorted(read_topic(kafka.bootstrap, name), key=lambda each: each.order)
    assert [said(each) for each in seen] == [
        ("INSERT", {"id": "1", "a": "1", "s": "2", "v": "3"}, None, None),
        ("INSERT", {"id": "2", "a": "2", "s": "3", "v": "4"}, None, None),
        ("UPDATE", {"id": "1", "a": "5"}, {"a": "1"}, None),
        ("DELETE", {"id": "2", "a": "2"}, None, None),
    ]

"""Rows that foreign keys change: MariaDB's binlog does not tell them, MySQL's from 9.6 on does.

Status and preflight say which.
"""

import pytest

from deploy.embedded import Kafka, MariaDB, SqlServer
from relay.preflight import Verdict, preflight
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until


def with_cascade(database: SqlServer, name: str) -> None:
    """A table whose row goes with that of another, and one of them in a database that is not
    mapped.
    """
    child = (
        "(id int primary key, parent int, foreign key (parent) references {parent} (id) on delete "
        "cascade on update set null)"
    )
    database.execute(
        f"create table {name}.parent (id int primary key)",
        f"create table {name}.child {child.format(parent=f'{name}.parent')}",
        f"create database if not exists {name}_other",
        f"create table {name}_other.child {child.format(parent=f'{name}.parent')}",
        f"insert into {name}.parent values (1)",
        f"insert into {name}.child values (10, 1)",
    )


@pytest.mark.parametrize(("server", "logged"), [("mariadb", False), ("mysql_9", True)])
def test_cascades_that_the_binlog_does_not_tell_are_warned_of(
    request: pytest.FixtureRequest,
    kafka: Kafka,
    new_installation: NewInstallation,
    server: str,
    logged: bool,
) -> None:
    database: SqlServer = request.getfixturevalue(server)
    installation = new_installation(database, kafka)
    name = installation.name
    with_cascade(database, name)
    words = (
        (
            f"The binlog lacks the changes that foreign keys make in {name}.child (ON DELETE "
            f"CASCADE, ON UPDATE SET NULL of {name}.parent)."
        )
        if not logged
        else ""
    )
    try:
        (found,) = (each for each in preflight(installation.settings) if each.check == "cascades")
        assert (found.verdict, found.sentence if not logged else "") == (
            Verdict.PASSED if logged else Verdict.WARNING,
            words,
        )
        with RelayProcess(installation) as relay:
            relay.wait_for("RUNNING")
            wait_until(
                lambda: relay.wait_for("RUNNING").unlogged_changes == words, "what the status says"
            )
            database.execute(
                f"delete from {name}.parent where id = 1", f"insert into {name}.parent values (2)"
            )
            wait_until(lambda: bool(inserted(kafka, name)), "the row behind the delete")
        deleted = sorted(
            str((each.value or {})["table"])
            for each in read_topic(kafka.bootstrap, name)
            if (each.value or {})["type"] == "DELETE"
        )
        assert deleted == (["child", "parent"] if logged else ["parent"])
    finally:
        database.execute(f"drop database {name}_other")


def inserted(kafka: Kafka, topic: str) -> list[object]:
    """The row that is inserted last."""
    values = [each.value or {} for each in read_topic(kafka.bootstrap, topic)]
    return [
        value
        for value in values
        if value.get("type") == "INSERT"
        and value.get("table") == "parent"
        and "2" in str(value.get("data"))
    ]


def test_an_account_that_may_not_see_the_tables_passes_with_that_restriction(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    (found,) = (each for each in preflight(installation.settings) if each.check == "cascades")
    assert (found.verdict, "the account may see" in found.sentence) == (Verdict.PASSED, True)

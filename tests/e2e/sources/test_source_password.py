"""The source's password is exchanged while the relay runs: no restart, nothing lost, nothing
twice.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
import tomli_w

from deploy.embedded import Kafka, SqlServer
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import ids_in_order
from tests.support.waiting import wait_until

RIGHTS: Final = {
    "mariadb": "replication slave, binlog monitor, select",
    "mysql_9": "replication slave, replication client, select",
}


@contextmanager
def account(database: SqlServer, name: str, rights: str) -> Iterator[None]:
    """An account of the test's own, whose password the test may change on a server that others
    use.
    """
    database.execute(
        f"create user {name}@'%' identified by 'first'", f"grant {rights} on *.* to {name}@'%'"
    )
    try:
        yield
    finally:
        database.execute(f"drop user {name}@'%'")


def kill_connections(database: SqlServer, user: str) -> None:
    """End every connection of the account, its dump among them."""
    with database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"select id from information_schema.processlist where user = '{user}'")
        found = [number for (number,) in cursor.fetchall()]
    assert found
    database.execute(*(f"kill {number}" for number in found))


def exchange(secret: Path, password: str) -> None:
    """Give the secret another password at once, as tools that mount secrets do."""
    new = secret.with_suffix(".new")
    new.write_text(password, encoding="utf-8")
    new.replace(secret)


@pytest.mark.parametrize("server", RIGHTS)
def test_the_password_is_exchanged_around_a_broken_connection(
    server: str,
    request: pytest.FixtureRequest,
    kafka: Kafka,
    new_installation: NewInstallation,
    tmp_path: Path,
) -> None:
    database: SqlServer = request.getfixturevalue(server)
    secret = tmp_path / "SOURCE_PASSWORD"
    secret.write_text("first", encoding="utf-8")
    installation = new_installation(
        database, kafka, source={"user": "exchanged", "password": "${SOURCE_PASSWORD}"}
    )
    installation.document["secrets"] = {"folder": str(tmp_path)}
    installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")
    name = installation.name
    with account(database, "exchanged", RIGHTS[server]), RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        database.execute(f"insert into {name}.t values (1, 1, 'x')")
        wait_until(lambda: ids_in_order(kafka, name) == [1], "the first row")

        database.execute(
            "alter user exchanged@'%' identified by 'second'",
            f"insert into {name}.t values (2, 1, 'x')",
        )
        wait_until(
            lambda: ids_in_order(kafka, name) == [1, 2], "a row over the connection that is open"
        )
        kill_connections(database, "exchanged")
        database.execute(f"insert into {name}.t values (3, 1, 'x')")
        refused = relay.wait_for("STOPPED", "SOURCE_LOGIN_REFUSED")
        assert "secrets.folder" in refused.remedy
        exchange(secret, "second")
        relay.wait_for("RUNNING")
        wait_until(lambda: ids_in_order(kafka, name) == [1, 2, 3], "the row of the meantime")

        exchange(secret, "third")
        database.execute("alter user exchanged@'%' identified by 'third'")
        kill_connections(database, "exchanged")
        database.execute(f"insert into {name}.t values (4, 1, 'x')")
        wait_until(
            lambda: ids_in_order(kafka, name) == [1, 2, 3, 4],
            "a row after a login with the new password",
        )
        assert relay.log.read_text(errors="replace").count("state=STOPPED") == 1
        assert not relay.ended

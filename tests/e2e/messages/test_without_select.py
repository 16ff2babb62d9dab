"""An account without SELECT on a source whose binlog has no names of columns: preflight and the
relay name the GRANT.
"""

from collections.abc import Iterator

import pytest

from deploy.embedded import Kafka, MariaDB, MySQL, SqlServer
from relay.errors import SourceNotPermitted
from relay.source import check_source
from tests.e2e.conftest import NewInstallation
from tests.servers.running import factory
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.source_reading import source_settings
from tests.support.waiting import wait_until

_USER = "blind"
_LOGIN = {"user": _USER, "password": _USER}


@pytest.fixture(scope="module", params=[MariaDB, MySQL], ids=["mariadb", "mysql"])
def bare(request: pytest.FixtureRequest) -> Iterator[SqlServer]:
    """A server whose table maps carry no names, with a replica's account that may not SELECT."""
    with factory(request.param) as start:
        server = start({"binlog_row_metadata": "MINIMAL"})
        client = "BINLOG MONITOR" if server.family == "mariadb" else "REPLICATION CLIENT"
        server.execute(
            f"create user {_USER}@'%' identified by '{_USER}'",
            f"grant replication slave, {client} on *.* to {_USER}@'%'",
        )
        yield server


def _found(server: SqlServer) -> tuple[SourceNotPermitted | None, bool]:
    """What preflight says of the account, and whether it is a warning only."""
    (check,) = (
        each
        for each in check_source(source_settings(server, **_LOGIN))
        if each.name == "source tables"
    )
    assert check.error is None or isinstance(check.error, SourceNotPermitted)
    return check.error, check.warning


def test_preflight_fails_where_the_names_must_be_read(bare: SqlServer) -> None:
    error, warning = _found(bare)
    assert error is not None
    assert not warning
    assert "binlog_row_metadata is MINIMAL" in error.reason
    assert "SELECT" in error.way_out
    bare.execute("set global binlog_row_metadata = 'FULL'")
    try:
        error, warning = _found(bare)
        assert error is not None
        assert warning
    finally:
        bare.execute("set global binlog_row_metadata = 'MINIMAL'")
    bare.execute(
        "create database if not exists readable", f"grant select on readable.* to {_USER}@'%'"
    )
    assert _found(bare) == (None, False)
    bare.execute(f"revoke select on readable.* from {_USER}@'%'")


def test_the_relay_names_the_grant_and_continues_with_it(
    bare: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(bare, kafka, source=_LOGIN)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        bare.execute(f"insert into {name}.t values (1, 1, 'a')")
        found = relay.wait_for("STOPPED", "SOURCE_NOT_PERMITTED")
        assert f"{name}.t" in found.reason
        assert "GRANT" in found.remedy
        assert "SELECT" in found.remedy
        relay.stop()
        bare.execute(f"grant select on {name}.* to {_USER}@'%'")
        relay.start()
        wait_until(
            lambda: (
                [
                    row.value["data"][0]["v"]
                    for row in read_topic(kafka.bootstrap, name)
                    if row.value
                ]
                == ["a"]
            ),
            "the row",
        )

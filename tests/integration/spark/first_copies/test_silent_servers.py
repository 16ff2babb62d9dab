"""Servers that fall silent without closing a connection: the jobs end by name, in the time that
their settings allow.
"""

from collections.abc import Callable
from time import monotonic

import pytest
from pydantic import SecretStr
from pyspark.sql import SparkSession

from deploy.embedded import MariaDB
from spark_jobs.config.copy import SourceServer
from spark_jobs.config.mysql import MirrorSettings
from spark_jobs.errors import MirrorUnreachable, SourceUnreachable
from spark_jobs.mysql.server import Server
from spark_jobs.origin import SourceDatabase
from tests.support.faults.stalling import stalling_way

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
_SQL = "select seq from seq_1_to_3"


def mirror(server: MariaDB, port: int) -> Server:
    password = SecretStr(server.admin)
    return Server(
        MirrorSettings(
            host="127.0.0.1", port=port, user=server.admin, password=password, patience_seconds=2
        )
    )


CALLS: dict[str, Callable[[Server], object]] = {
    "run": lambda server: server.run(_SQL),
    "stream": lambda server: list(server.stream(_SQL)),
    "unbounded": lambda server: server.run(_SQL, bounded=False),
}


@pytest.mark.parametrize(
    ("call", "connected"), [("run", True), ("run", False), ("stream", True), ("unbounded", False)]
)
def test_a_mirror_that_falls_silent_is_given_up_when_patience_ends(
    mariadb: MariaDB, call: str, connected: bool
) -> None:
    with stalling_way(mariadb.port) as way, mirror(mariadb, way.port) as server:
        if connected:
            assert server.run("use mysql") == []
            assert list(server.stream(_SQL)) == [(1,), (2,), (3,)]
        way.stall()
        began = monotonic()
        with pytest.raises(MirrorUnreachable, match=f"127.0.0.1:{way.port} does not answer"):
            CALLS[call](server)
        assert 1 < monotonic() - began < 30


def test_a_statement_that_may_take_long_is_awaited(mariadb: MariaDB) -> None:
    with mirror(mariadb, mariadb.port) as server:
        assert server.run("select sleep(4)", bounded=False) == [(0,)]
        with pytest.raises(MirrorUnreachable):
            server.run("select sleep(4)")
        assert server.run("select sleep(1)") == [(0,)]


def test_a_source_that_sends_nothing_ends_the_job_by_name(
    spark: SparkSession, mariadb: MariaDB
) -> None:
    place = {
        "host": "127.0.0.1",
        "port": mariadb.port,
        "user": mariadb.relay,
        "password": mariadb.relay,
    }
    database = SourceDatabase(
        spark, SourceServer.model_validate({"instance": "one", **place, "read_timeout_seconds": 3})
    )
    began = monotonic()
    with pytest.raises(SourceUnreachable, match="does not answer"):
        database.rows("select sleep(60) as slept")
    assert monotonic() - began < 30

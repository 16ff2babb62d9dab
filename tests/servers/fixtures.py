"""The server fixtures: one shared server of each kind, and factories for tests that stop or damage
their servers.
"""

import itertools
import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, TypeAlias, TypeVar

import pytest

from deploy.embedded import (
    Apicurio,
    DebianMariaDB,
    HBase,
    Kafka,
    MariaDB,
    MySQL,
    MySQL56,
    ServerProcess,
    SqlServer,
    ZooKeeper,
)
from deploy.embedded.packaged import Postgres, Redis
from deploy.embedded.processes.jvm import QUICK_START
from tests.servers.availability import require
from tests.servers.running import factory, running

Server = TypeVar("Server", bound=ServerProcess)
FreshName: TypeAlias = Callable[[str], str]
_DATABASES: Final = {
    "mariadb-11.4": "mariadb",
    "mariadb-10.11": "mariadb_10_11",
    "mysql-9.7": "mysql_9",
}
_OLDER: Final = "mariadb-10.11"
_numbers: Final = itertools.count(1)
EVERY_SERVER: Final = pytest.mark.parametrize(
    "database", list(_DATABASES.values()), ids=list(_DATABASES), indirect=True
)
"""Runs a test with every database server: for differences between their binlogs."""
LOOKS_FOR_EXPIRED_MS: Final = 2000
"""Interval in milliseconds at which the shared broker aborts timed-out transactions. With Kafka's
default of 10 s, tests would wait that long.
"""
SHORTEST_SESSION_MS: Final = 2000
_TICK_MS: Final = 100
"""Interval at which the shared ZooKeeper ends expired sessions. With the usual second, a dead relay
would lead for up to a second longer.
"""


def _shared(kind: Callable[[], Server]) -> Iterator[Server]:
    if isinstance(kind, type) and issubclass(kind, ServerProcess):
        require(kind)
    with running(kind()) as server:
        yield server


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariaDB]:
    """The shared MariaDB 11.4.5; use names of your own in it and do not stop it."""
    yield from _shared(MariaDB)


@pytest.fixture(scope="session")
def mariadb_10_11() -> Iterator[DebianMariaDB]:
    """The shared MariaDB 10.11 of Debian."""
    yield from _shared(DebianMariaDB)


@pytest.fixture(scope="session")
def mysql_9() -> Iterator[MySQL]:
    """The shared MySQL 9.7."""
    yield from _shared(MySQL)


@pytest.fixture(scope="session")
def mysql_5_6() -> Iterator[MySQL56]:
    """The shared MySQL 5.6, without GTIDs and row metadata."""
    yield from _shared(MySQL56)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """The shared PostgreSQL; use databases of your own, do not stop it."""
    yield from _shared(Postgres)


@pytest.fixture(scope="session")
def redis_server() -> Iterator[Redis]:
    """The shared Redis; use keys of your own, do not stop it."""
    yield from _shared(Redis)


@pytest.fixture(scope="session")
def kafka() -> Iterator[Kafka]:
    """The shared broker; `.bootstrap` is its address."""
    require(Kafka)
    often = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": LOOKS_FOR_EXPIRED_MS}
    yield from _shared(lambda: Kafka(often, jvm_options=QUICK_START))


@pytest.fixture(scope="session")
def registry() -> Iterator[Apicurio]:
    """The shared schema registry; use topics of your own, do not stop it."""
    require(Apicurio)
    yield from _shared(lambda: Apicurio(jvm_options=QUICK_START))


@pytest.fixture(scope="session")
def hbase() -> Iterator[HBase]:
    """The shared HBase; `.address` is its Thrift2 gateway. Use namespaces of your own."""
    require(HBase)
    yield from _shared(lambda: HBase(jvm_options=QUICK_START))


@pytest.fixture(scope="session")
def zookeeper() -> Iterator[ZooKeeper]:
    """The shared ZooKeeper; `.hosts` is its address.

    It grants no session less than `SHORTEST_SESSION_MS`.
    """
    require(ZooKeeper)
    limits = {"minSessionTimeout": SHORTEST_SESSION_MS, "maxSessionTimeout": 20_000}
    yield from _shared(lambda: ZooKeeper(limits, tick_ms=_TICK_MS, jvm_options=QUICK_START))


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(fixture, id=name, marks=[pytest.mark.long] if name == _OLDER else [])
        for name, fixture in _DATABASES.items()
    ],
)
def database(request: pytest.FixtureRequest) -> SqlServer:
    """The newest server of each family; with `make test-long` also the older MariaDB.

    Tests of differences between the servers' binlogs have the mark `EVERY_SERVER`.
    """
    server: SqlServer = request.getfixturevalue(request.param)
    return server


@pytest.fixture(scope="session")
def fresh_name() -> FreshName:
    """Give names that no other test of this or a parallel run uses: `fresh_name("orders")`.

    Good for databases, topics and paths.
    """
    return lambda stem: f"{stem}_{os.getpid()}_{next(_numbers)}"


@pytest.fixture
def new_mariadb() -> Iterator[Callable[..., MariaDB]]:
    """Start MariaDB 11.4.5 servers of the test's own: `new_mariadb({"binlog_row_image":
    "MINIMAL"})`.
    """
    with factory(MariaDB) as start:
        yield start


@pytest.fixture
def new_mariadb_10_11() -> Iterator[Callable[..., DebianMariaDB]]:
    """Start MariaDB 10.11 servers of the test's own."""
    with factory(DebianMariaDB) as start:
        yield start


@pytest.fixture
def new_mysql() -> Iterator[Callable[..., MySQL]]:
    """Start MySQL 9.7 servers of the test's own."""
    with factory(MySQL) as start:
        yield start


@pytest.fixture
def new_mysql_5_6() -> Iterator[Callable[..., MySQL56]]:
    """Start MySQL 5.6 servers of the test's own."""
    with factory(MySQL56) as start:
        yield start


@pytest.fixture
def new_kafka() -> Iterator[Callable[..., Kafka]]:
    """Start brokers of the test's own: `new_kafka({"transaction.max.timeout.ms": 5000},
    heap="512m")`.
    """
    require(Kafka)
    with factory(partial(Kafka, jvm_options=QUICK_START)) as start:
        yield start


@pytest.fixture
def new_zookeeper() -> Iterator[Callable[..., ZooKeeper]]:
    """Start ZooKeeper servers of the test's own: `new_zookeeper(tick_ms=500)`."""
    require(ZooKeeper)
    with factory(partial(ZooKeeper, jvm_options=QUICK_START)) as start:
        yield start

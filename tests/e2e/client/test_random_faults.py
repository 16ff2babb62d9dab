"""One short round of `make clients`: random faults around services that read a load."""

import pytest

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from tests.servers.fixtures import FreshName
from tools.clients.rounds import run_round
from tools.clients.service import KINDS, Kind
from tools.faults.stage import Servers

SEED = 11


class _Shared(Servers):
    """The servers of all tests, which no round restarts."""

    def __init__(self, database: MariaDB, broker: Kafka, zookeeper: ZooKeeper) -> None:
        super().__init__()
        self.__dict__.update(database=database, broker=broker, zookeeper=zookeeper)


@pytest.mark.parametrize(
    "kind",
    [each if each == "exclusive" else pytest.param(each, marks=pytest.mark.long) for each in KINDS],
)
def test_nothing_is_lost_or_out_of_order_and_exclusive_clients_take_turns(
    mariadb: MariaDB, kafka: Kafka, zookeeper: ZooKeeper, fresh_name: FreshName, kind: Kind
) -> None:
    servers = _Shared(mariadb, kafka, zookeeper)
    faults = ("kill", "long-pause", "edit")
    outcome = run_round(servers, kind, SEED, fresh_name("clients"), faults)
    assert outcome.wrong == (), outcome

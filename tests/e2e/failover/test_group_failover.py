"""A source of a group is left for its standby by the same proof as a single one: nothing lost,
nothing twice, one order over all.
"""

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import pytest

from deploy.embedded import Kafka, MariaDB
from relay.settings import RelaySettings
from tests.e2e.conftest import NewInstallation
from tests.servers.running import running
from tests.support.relays.admin_server import TOKEN, admin_client
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.sources.group_rows import (
    assert_one_order,
    ids,
    insert,
    member,
    seen,
    table_on,
    writing,
)
from tests.support.sources.source_pair import (
    apply_again,
    caught_up,
    fetched_all,
    promote,
    stop_applying,
)
from tests.support.waiting import wait_until

FAR: Final = 1_000_000

Pair: TypeAlias = tuple[MariaDB, MariaDB]


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """A master and its replica, the source of a group that is called second."""
    logged = {"log_slave_updates": "ON"}
    with running(MariaDB(logged)) as master, running(MariaDB(logged)) as replica:
        replica.replicate_from(master)
        yield master, replica


def group_of(
    make: NewInstallation, first: MariaDB, kafka: Kafka, pair: Pair, dies: str
) -> Installation:
    master, replica = pair
    second = {**member("second", master), "standby": {"host": replica.host, "port": replica.port}}
    rules = {"detecting_interval_seconds": 0.2, "retry_threshold": 2, "heartbeat_ha_enable": True}
    group = {"sources": [second], "when_source_dies": dies}
    installation = make(
        first, kafka, source={"heartbeat_seconds": 0.2}, failover=rules, group=group
    )
    table_on(master, installation.name)
    return installation


def assert_whole(kafka: Kafka, name: str, first: list[int], second: list[int]) -> None:
    """Every row once, each source's in its own order, and one order over both."""
    found = ids(kafka, name)
    assert [each for each in found if each < FAR] == first
    assert [each for each in found if each >= FAR] == second
    assert_one_order(seen(kafka, name))


def test_a_dead_source_is_left_for_its_standby_while_the_others_wait(
    mariadb: MariaDB, pair: Pair, kafka: Kafka, new_installation: NewInstallation
) -> None:
    master, replica = pair
    installation = group_of(new_installation, mariadb, kafka, pair, "hold")
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        with writing((mariadb, name, 1), pause_s=0.03) as written:
            insert(master, name, FAR, FAR + 1)
            wait_until(lambda: FAR + 1 in ids(kafka, name), "rows of both")
            caught_up(replica, master)
            master.kill()
            installation.wait_for_epoch(1, "the standby read")
            promote(replica)
            insert(replica, name, FAR + 2, FAR + 3)
            wait_until(lambda: FAR + 3 in ids(kafka, name), "rows of the standby")
            master.start()
            master.replicate_from(replica)
            caught_up(master, replica)
            switch_by_hand(installation)
            installation.wait_for_epoch(2, "the master read again")
            promote(master)
            replica.replicate_from(master)
            insert(master, name, FAR + 4)
            wait_until(lambda: FAR + 4 in ids(kafka, name), "rows of the master")
        wait_until(lambda: len(ids(kafka, name)) >= len(written) + 5, "the rest of the other")
    assert_whole(kafka, name, written, [FAR + each for each in range(5)])
    assert {epoch_of(each.order) for each in seen(kafka, name)} == {0, 1, 2}
    switches = installation.failover.of_source("second").history("shop")
    assert [(each.source, each.to, each.asked_by) for each in switches] == [
        ("second", "master", "ann"),
        ("second", "standby", ""),
    ]


def switch_by_hand(installation: Installation) -> None:
    """Order the source called second back to its master, through the admin."""
    settings = RelaySettings.model_validate(
        {**installation.document, "placement": {}, "api": {"port": 0, "token": TOKEN}}
    )
    with admin_client(settings) as admin:
        address, ann = "/api/v1/instances/shop/failover", {"X-Author": "ann"}
        refusals = {
            "": "Instance shop reads a group of sources: first, second.",
            "third": "Instance shop has no source third, but first, second.",
        }
        for source, why in refusals.items():
            refused = admin.post(
                f"{address}/switch", headers=ann, json={"to": "master", "source": source}
            )
            assert (refused.status_code, refused.json()["detail"]) == (400, why)
        none = admin.post(f"{address}/hold", headers=ann, json={"source": "first"})
        assert (none.status_code, none.json()["detail"]) == (
            400,
            "The leading relay has not reported the servers of first of shop.",
        )
        shown: list[dict[str, Any]] = admin.get(address).json()["sources"]
        assert [(each["source"], each["followed"]) for each in shown] == [
            ("first", ""),
            ("second", "standby"),
        ]
        assert (
            admin.post(
                f"{address}/switch", headers=ann, json={"to": "master", "source": "second"}
            ).status_code
            == 202
        )


def epoch_of(order: str) -> int:
    """The epoch in a row's pair: the upper 11 of 63 bits."""
    return int(order.partition(".")[2]) >> 52


def test_the_others_go_on_while_a_standby_lags_behind(
    mariadb: MariaDB, pair: Pair, kafka: Kafka, new_installation: NewInstallation
) -> None:
    master, replica = pair
    installation = group_of(new_installation, mariadb, kafka, pair, "pass")
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        caught_up(replica, master)
        stop_applying(replica)
        insert(mariadb, name, 1)
        insert(master, name, FAR, FAR + 1)
        wait_until(lambda: len(ids(kafka, name)) == 3, "rows of both")
        fetched_all(replica, master)
        master.kill()
        wait_until(
            lambda: (
                relay.wait_for("RUNNING").held_back
                == "Source second is not read at present: STANDBY_BEHIND."
            ),
            "that it says why it waits",
        )
        insert(mariadb, name, 2)
        wait_until(lambda: ids(kafka, name)[-1] == 2, "a row of the one that lives")
        assert relay.wait_for("RUNNING").epoch == 0
        apply_again(replica)
        wait_until(lambda: relay.wait_for("RUNNING").epoch == 1, "the standby read")
        wait_until(lambda: relay.wait_for("RUNNING").held_back == "", "that none is passed over")
        promote(replica)
        insert(replica, name, FAR + 2)
        insert(mariadb, name, 3)
        wait_until(lambda: len(ids(kafka, name)) == 6, "rows of both")
    assert_whole(kafka, name, [1, 2, 3], [FAR, FAR + 1, FAR + 2])

"""The overview over HTTP, with statuses in a real ZooKeeper."""

from collections.abc import Iterator
from time import process_time

import httpx
import pytest

from deploy.embedded import ZooKeeper
from relay.state import InstanceStatus, InstanceStore, Membership, Paths, RelayMember
from tests.servers.fixtures import FreshName
from tests.support.many_instances import admin_with_many
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

MANY = 500


@pytest.fixture(scope="module")
def admin(zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[httpx.Client]:
    """An installation of many instances: one is stopped, one has no leader."""
    installation = fresh_name("overview")
    paths = Paths(f"/roma/{installation}")
    with session_with(zookeeper.hosts) as session:
        names = tuple(f"shop-{number:03}" for number in range(MANY))
        Membership(session, paths).announce(RelayMember("r1", "host", 7, "", names, 5, "s1", 4000))
        store = InstanceStore(session, paths)
        for name in names[2:]:
            store.put_status(InstanceStatus(name, "RUNNING", relay="r1", lag_seconds=0.2))
        store.put_status(InstanceStatus(names[1], "RUNNING", relay="r9"))
        store.put_status(
            InstanceStatus(names[0], "STOPPED", "BINLOG_PURGED", "it is <gone>.", "Do.", "r1")
        )
        with admin_client(admin_settings(zookeeper.hosts, installation)) as client:
            wait_until(lambda: client.get("/").status_code == 200, "the admin to show the page")
            yield client


def test_the_overview_begins_with_what_needs_a_person(admin: httpx.Client) -> None:
    text = admin.get("/").text
    assert text.index("Needs attention") < text.index('id="inst"')
    assert "It is &lt;gone&gt;." in text
    assert "500 instances: 498 running, 1 standby, 1 stopped." in text
    assert text.count('<tr class="link"') == MANY
    assert '<span class="n bad">1<span class="sr"> need attention</span></span>' in text


def test_filters_are_done_by_the_server(admin: httpx.Client) -> None:
    for query, rows in (("filter=shop-49", 10), ("state=STOPPED", 1), ("filter=PURGED", 1)):
        assert admin.get(f"/?{query}").text.count('<tr class="link"') == rows, query
    assert "No instance matches" in admin.get("/?filter=nothing").text
    assert admin.get("/?group=server").text.count('<tr class="group"') == 2
    assert admin.get("/?sort=no&group=no&state=no").status_code == 200


def test_500_instances_are_shown_in_less_than_a_second(admin: httpx.Client) -> None:
    began = process_time()  # the admin is a thread of this process
    assert admin.get("/").status_code == 200
    assert process_time() - began < 1.0


def test_the_list_of_instances_is_filtered_and_paged(admin: httpx.Client) -> None:
    answer = admin.get("/api/v1/instances", params={"filter": "shop-4", "limit": 2, "offset": 99})
    assert [each["name"] for each in answer.json()] == ["shop-499"]
    assert answer.headers["x-total-count"] == "100"
    (stopped,) = admin.get("/api/v1/instances?state=STOPPED").json()
    assert stopped["name"] == "shop-000"
    assert admin.get("/api/v1/instances?limit=0").status_code == 422


@pytest.fixture(scope="module")
def crowded(zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[httpx.Client]:
    with admin_with_many(zookeeper.hosts, fresh_name("folded"), 1001) as client:
        yield client


def test_the_groups_are_closed_with_counts_and_the_worst_state(crowded: httpx.Client) -> None:
    text = crowded.get("/").text
    assert text.count('<details class="panel fold"') == 2
    assert '<tr class="link"' not in text
    assert "1,001 instances in 2 groups." in text
    assert '<option value="">' not in text
    assert 'href="?group=state&amp;open=Running#fold-Running">Show 1,000 instances</a>' in text
    by_server = crowded.get("/?group=server").text
    assert by_server.count('<details class="panel fold"') == 1
    assert "worst:" in by_server


def test_a_group_is_opened_by_its_address(crowded: httpx.Client) -> None:
    text = crowded.get("/?group=state&open=Stopped").text
    assert text.count('<tr class="link"') == 1
    assert text.count(" open><summary>") == 1
    assert crowded.get("/?open=nothing").text.count('<tr class="link"') == 0


def test_a_filter_of_few_instances_is_one_list(crowded: httpx.Client) -> None:
    text = crowded.get("/?filter=many-0007").text
    assert (text.count('<tr class="link"'), "<details class" in text) == (1, False)

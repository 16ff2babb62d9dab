"""The logical view of a set in a real ZooKeeper, over HTTP and as a page."""

from collections.abc import Iterator

import httpx
import pytest

from deploy.embedded import ZooKeeper
from relay.route import DBS
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.mapped_admin import DOCUMENTS, mapped_admin
from tests.support.waiting import wait_until

LOGICAL = "/api/v1/mappings/logical"


@pytest.fixture(scope="module")
def admin(zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[httpx.Client]:
    with mapped_admin(zookeeper.hosts, fresh_name("logical")) as client:
        yield client


def test_groups_with_shards_rules_and_seen_tables(admin: httpx.Client) -> None:
    answer = admin.get(LOGICAL)
    assert (answer.status_code, answer.headers["etag"]) == (200, '"1"')
    crm, shop = answer.json()["groups"]
    assert (crm["name"], shop["name"]) == ("crm", "shop")
    assert {each["logical_table"]: each["real_tables"] for each in shop["tables"]} == {
        "client": 2,
        "orders": 1,
        "cart": 1,
    }
    assert [(each["rule"], each["instances"]) for each in shop["shards"]] == [
        ("shop_01", ["shop-a"]),
        ("shop_02", ["shop-a"]),
    ]


@pytest.mark.parametrize(
    ("by", "names"), [("topic", ["crm", "shop"]), ("instance", ["crm", "shop-a"])]
)
def test_groups_by_topic_and_instance(admin: httpx.Client, by: str, names: list[str]) -> None:
    groups = admin.get(LOGICAL, params={"by": by}).json()["groups"]
    assert [each["name"] for each in groups] == names
    assert admin.get(LOGICAL, params={"by": "shard"}).status_code == 422


def test_the_page_shows_them_and_filters(admin: httpx.Client) -> None:
    page = admin.get("/mappings", params={"filter": "lead"})
    assert (page.status_code, "Set 1 in force" in page.text) == (200, True)
    assert "Saved by ann" in page.text
    assert "first shards" in page.text
    assert "Tables of crm" in page.text
    assert "Tables of shop" not in page.text
    assert "No database, table, topic or tag" in admin.get("/mappings?filter=xyz").text


def test_an_empty_installation_says_that_nothing_is_mapped(
    zookeeper: ZooKeeper, fresh_name: FreshName
) -> None:
    with admin_client(admin_settings(zookeeper.hosts, fresh_name("empty"))) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        assert client.get(LOGICAL).json() == {"set": 0, "by": "db", "groups": [], "problems": []}
        assert "No real database is mapped yet" in client.get("/mappings").text


def test_problems_of_a_save_have_lines(admin: httpx.Client) -> None:
    text = '[\n  {"logicDb": "shop", "realDbs": "a"},\n  {"logicDb": "new", "realDbs": "a"}\n]'
    trial = admin.post("/api/v1/mappings/dry-run", json={DBS: text}).json()
    assert {(each["pointer"], each["line"], each["column"]) for each in trial["problems"]} == {
        ("/1/realDbs", 3, 33),
        ("/1/logicDb", 3, 15),
    }
    same = admin.put(f"/api/v1/configs/ROMA_GROUP/{DBS}", content=text, headers={"If-Match": '"1"'})
    assert {(each["line"], each["column"]) for each in same.json()["problems"]} == {
        (3, 33),
        (3, 15),
    }
    broken = admin.post("/api/v1/mappings/dry-run", json={DBS: "[\n  {,}\n]"}).json()
    assert [(each["line"], each["column"]) for each in broken["problems"]] == [(2, 4)]
    assert DOCUMENTS[DBS] == admin.get("/api/v1/configs/ROMA_GROUP").json()[DBS]

"""The logical view of a set in a real ZooKeeper, over HTTP and as a page."""

import html
import re
from collections.abc import Iterator

import httpx
import pytest

from api.web.pages.mappings import logical
from deploy.embedded import ZooKeeper
from relay.route import DBS
from relay.state import InstanceStore, Paths
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.mapped_admin import DOCUMENTS, mapped_admin
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

LOGICAL = "/api/v1/mappings/logical"


@pytest.fixture(scope="module")
def admin(zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[httpx.Client]:
    with mapped_admin(zookeeper.hosts, fresh_name("logical")) as client:
        yield client


def test_groups_with_shards_rules_and_seen_tables(admin: httpx.Client) -> None:
    answer = admin.get(LOGICAL)
    assert (answer.status_code, answer.headers["x-total-count"]) == (200, "4")
    known = {"If-None-Match": answer.headers["etag"]}
    assert admin.get(LOGICAL, headers=known).status_code == 304
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


def test_a_new_table_is_seen_at_once_and_changes_the_tag(
    admin: httpx.Client, zookeeper: ZooKeeper
) -> None:
    before = admin.get(f"{LOGICAL}?filter=late")
    assert (before.json()["groups"], before.headers["x-total-count"]) == ([], "0")
    installation = admin.get("/api/v1/subscriptions").json()["installation"]
    settings = admin_settings(zookeeper.hosts, installation)
    with session_with(zookeeper.hosts) as session:
        store = InstanceStore(session, Paths.of(settings.zookeeper, installation))
        known = store.tables_of("crm")
        store.put_tables("crm", [*known, "crm.late"])
        after = admin.get(f"{LOGICAL}?filter=late")
        store.put_tables("crm", known)
    assert [each["logical_table"] for each in after.json()["groups"][0]["tables"]] == ["late"]
    assert after.headers["etag"] != before.headers["etag"]
    assert admin.get(f"{LOGICAL}?filter=late").json()["groups"] == []


@pytest.mark.parametrize("by", ["db", "topic", "instance"])
def test_pages_together_are_the_whole(admin: httpx.Client, by: str) -> None:
    whole = admin.get(LOGICAL, params={"by": by})
    total = int(whole.headers["x-total-count"])
    pages = [
        admin.get(LOGICAL, params={"by": by, "limit": 2, "offset": offset}).json()["groups"]
        for offset in range(0, total, 2)
    ]
    tables = [(group["name"], each) for page in pages for group in page for each in group["tables"]]
    assert tables == [
        (group["name"], each) for group in whole.json()["groups"] for each in group["tables"]
    ]
    assert len(tables) == total


def test_the_page_leads_to_the_next_tables(
    admin: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Next tables" not in admin.get("/mappings").text
    monkeypatch.setattr(logical, "PAGE_TABLES", 2)
    first = admin.get("/mappings", params={"filter": "shop"})
    assert "Tables 1 to 2 of 3" in first.text
    assert "Previous tables" not in first.text
    (after,) = re.findall(r'href="\./mappings\?([^"]+)">Next tables', first.text)
    last = admin.get(f"/mappings?{html.unescape(after)}")
    assert "Tables 3 to 3 of 3" in last.text
    assert "Next tables" not in last.text
    assert "3 logical tables" in last.text  # of the database, in its picture


@pytest.mark.parametrize(
    ("by", "names"), [("topic", ["crm", "shop"]), ("instance", ["crm", "shop-a"])]
)
def test_groups_by_topic_and_instance(admin: httpx.Client, by: str, names: list[str]) -> None:
    groups = admin.get(LOGICAL, params={"by": by}).json()["groups"]
    assert [each["name"] for each in groups] == names
    assert admin.get(LOGICAL, params={"by": "shard"}).status_code == 422


def test_the_page_shows_them_and_filters(admin: httpx.Client) -> None:
    page = admin.get("/mappings", params={"filter": "lead"})
    assert (page.status_code, "Set 1 active" in page.text) == (200, True)
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

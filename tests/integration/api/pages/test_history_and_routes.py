"""History, roll back, unmapped tables and the route finder on a real ZooKeeper."""

from collections.abc import Iterator
from html import unescape

import httpx
import pytest

from deploy.embedded import ZooKeeper
from relay.route import DBS, TOPICS
from relay.state import DocumentStore, DroppedName, InstanceStore, Paths
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.mapped_admin import DOCUMENTS, GROUP, mapped_admin, save
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

MOVED = {**DOCUMENTS, TOPICS: [DOCUMENTS[TOPICS][0], {"logicDb": "crm", "topic": "people"}]}


@pytest.fixture
def admin(zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[httpx.Client]:
    with mapped_admin(zookeeper.hosts, fresh_name("history")) as client:
        save(client, MOVED, comment="crm to people", base=1)
        yield client


def test_the_history_compares_two_sets_and_tells_what_a_save_changed(admin: httpx.Client) -> None:
    page = admin.get("/mappings/history")
    assert page.status_code == 200
    assert "Set 2 compared with set 1" in page.text
    assert "crm to people" in page.text
    assert "moved from topic crm to topic people." in page.text
    first = admin.get("/mappings/history", params={"set": 1})
    assert "Set 1 compared with nothing" in first.text
    assert admin.get("/mappings/history", params={"set": 9}).status_code == 404
    changes = admin.get("/api/v1/mappings/sets/2/changes").json()
    assert {(each["kind"], each["count"]) for each in changes} == {("moved", 2)}
    assert admin.get("/api/v1/mappings/sets/1/changes").json()[0]["kind"] == "covered"
    assert admin.get("/api/v1/mappings/sets/9/changes").status_code == 404


def test_a_roll_back_shows_what_it_changes_and_needs_a_comment(admin: httpx.Client) -> None:
    trial = admin.get("/mappings/history", params={"rollback": 1})
    assert "moved from topic people to topic crm." in trial.text
    form = {"set": "1", "base": "2", "comment": " "}
    assert admin.post("/mappings/rollback", data=form).status_code == 422
    stale = admin.post("/mappings/rollback", data={**form, "base": "1", "comment": "back"})
    assert (stale.status_code, "Another set became active" in stale.text) == (412, True)
    assert admin.get(GROUP).headers["etag"] == '"2"'
    done = admin.post("/mappings/rollback", data={**form, "comment": "back\x1b[2J"})
    assert (done.status_code, done.headers["location"]) == (303, "history?done=mapping-rolled-back")
    newest = admin.get("/api/v1/mappings/sets").json()[0]
    assert (newest["set"], newest["restored_from"]) == (3, 1)
    assert (newest["author"], newest["comment"]) == ("api.token", "back\\x1b[2J")


def test_unmapped_tables_until_they_are_mapped(admin: httpx.Client) -> None:
    (found,) = admin.get("/api/v1/unmapped").json()
    assert (found["name"], found["instance"], found["rows"]) == ("metrics.sample", "crm", 7)
    page = admin.get("/mappings/unmapped")
    assert 'href="../mappings/edit?table=metrics.sample"' in page.text
    hidden = admin.post("/mappings/unmapped/hide", data={"name": "metrics.sample"})
    assert hidden.headers["location"] == "../unmapped?done=table-hidden"
    assert admin.get("/api/v1/unmapped").json() == []
    assert len(admin.get("/api/v1/unmapped", params={"hidden": True}).json()) == 1
    assert "1 table is hidden" in admin.get("/mappings/unmapped").text
    assert "Show again" in admin.get("/mappings/unmapped?hidden=1").text
    (noted,) = admin.get("/api/v1/unmapped/hidden").json()
    assert (noted["name"], noted["author"]) == ("metrics.sample", "api.token")
    name = "/api/v1/unmapped/hidden?table=metrics.sample"
    assert [admin.delete(name).status_code for _ in range(2)] == [204, 404]
    assert admin.put(name, headers={"X-Comment": "gh-ost"}).status_code == 204
    again = admin.post("/mappings/unmapped/unhide", data={"name": "metrics.sample"})
    assert again.headers["location"] == "../unmapped?done=table-unhidden"
    assert admin.put("/api/v1/unmapped/hidden?table=none").status_code == 422
    assert admin.post("/mappings/unmapped/hide", data={"name": "none"}).status_code == 400
    mapped = {
        **MOVED,
        DBS: [*MOVED[DBS], {"logicDb": "metrics", "realDbs": "metrics"}],
        TOPICS: [*MOVED[TOPICS], {"logicDb": "metrics", "topic": "metrics"}],
    }
    save(admin, mapped, comment="metrics", base=2)
    assert admin.get("/api/v1/unmapped").json() == []
    assert "Every table is mapped" in admin.get("/mappings/unmapped").text


def test_unmapped_tables_say_what_they_resemble(
    zookeeper: ZooKeeper, fresh_name: FreshName
) -> None:
    name = fresh_name("alike")
    with (
        mapped_admin(zookeeper.hosts, name) as client,
        session_with(zookeeper.hosts) as session,
    ):
        reason = "no database mapping lists its database."
        dropped = [
            DroppedName("metrics.lead_archive", reason, 9, 0, "crm.lead", 10, 12),
            DroppedName("metrics._lead_gho", reason, 8, 0, "crm.lead", 12, 12),
            DroppedName("metrics.other", reason, 7),
        ]
        InstanceStore(session, Paths(f"/roma/{name}")).put_dropped("crm", dropped)
        archive, ghost, other = client.get("/api/v1/unmapped").json()
        assert (archive["like_columns"]["table"], archive["like_columns"]["common"]) == (
            "crm.lead",
            10,
        )
        assert (archive["tool"], ghost["tool"]["tool"]) == (None, "gh-ost")
        assert (ghost["tool"]["original"], other["like_columns"]) == ("metrics.lead", None)
        page = client.get("/mappings/unmapped").text
        assert "10 of 12 columns are those of crm.lead" in page
        assert "Named as gh-ost names the copy of lead with its new columns." in page
        assert "Such tables are normally not mapped." in page


def test_a_list_of_hidden_tables_is_in_a_backup_and_a_newer_one_is_refused(
    zookeeper: ZooKeeper, fresh_name: FreshName
) -> None:
    name = fresh_name("hidden")
    paths = Paths(f"/roma/{name}")
    with (
        mapped_admin(zookeeper.hosts, name) as client,
        session_with(zookeeper.hosts) as session,
    ):
        assert client.put("/api/v1/unmapped/hidden?table=metrics.sample").status_code == 204
        backup = DocumentStore(session, paths, name).take()
        assert b'"metrics.sample"' in backup.nodes["hidden-tables"]
        session.put(paths.hidden_tables, b'{"format":2,"tables":[]}')
        for answer in (
            client.get("/api/v1/unmapped"),
            client.put("/api/v1/unmapped/hidden?table=a.b"),
        ):
            assert (answer.status_code, answer.json()["code"]) == (502, "ZOOKEEPER_REFUSED")
            assert "format 2" in answer.json()["detail"]


def test_a_route_names_its_rules_with_their_lines(admin: httpx.Client) -> None:
    route = admin.get("/api/v1/route", params={"database": "shop_01", "table": "user"}).json()
    assert [(each["dataId"].rpartition(".")[2], each["line"]) for each in route["rules"]] == [
        ("dbs", 2),
        ("tbs", 2),
        ("topics", 2),
        ("tags", 2),
    ]
    page = admin.get("/routes", params={"q": "shop_01.user"})
    assert "Where shop_01.user goes" in page.text
    assert "dbs, line 2" in page.text
    assert route["filter_step"] in unescape(page.text)
    assert route["partition"] is not None
    assert route["partition"]["sentence"] in unescape(page.text)
    assert route["key"] == '["shop.client", …]'
    assert ">shop-a</a>" in page.text


def test_what_feeds_a_topic_a_table_and_a_tag(admin: httpx.Client) -> None:
    for asked in ({"topic": "shop"}, {"logical": "shop.client"}, {"tag": "contact"}):
        found = admin.get("/api/v1/route/reverse", params=asked).json()
        assert "client" in {each["logical_table"] for each in found}
    assert admin.get("/api/v1/route/reverse").status_code == 400
    assert admin.get("/api/v1/route/reverse", params={"topic": "a", "tag": "b"}).status_code == 400


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("topic:people", "crm.lead"),
        ("contact", "shop.client"),
        ("shop-a", "Instances found"),
        ("nobody.knows", "no database mapping lists its database"),
        ("<script>", "Nothing is called &lt;script&gt;"),
    ],
)
def test_the_finder_answers_every_kind_of_name(admin: httpx.Client, asked: str, text: str) -> None:
    page = admin.get("/routes", params={"q": asked})
    assert (page.status_code, text in page.text) == (200, True)


def test_a_table_that_the_filter_leaves_out_has_no_rules(
    zookeeper: ZooKeeper, fresh_name: FreshName
) -> None:
    source = {"host": "h", "user": "u"}
    deaf = {"name": "crm", "source": source, "filter": {"filter_black_regex": r"crm\..*"}}
    with mapped_admin(zookeeper.hosts, fresh_name("filtered"), instances=[deaf]) as client:
        page = client.get("/routes", params={"q": "crm.lead"}, headers={"Accept": "text/html"})
        assert "does not let it pass" in page.text
        assert "Logical database" not in page.text.partition("Where crm.lead goes")[2]
        answer = client.get("/api/v1/route", params={"database": "crm", "table": "lead"}).json()
        assert (answer["filtered"], answer["rules"]) == (True, [])
        assert answer["filter_step"] == r"filter_black_regex crm\..* leaves it out."
        assert (answer["partition"], answer["key"]) == (None, None)


def test_pages_of_an_empty_installation(zookeeper: ZooKeeper, fresh_name: FreshName) -> None:
    with admin_client(admin_settings(zookeeper.hosts, fresh_name("empty"))) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        assert "Nothing saved yet" in client.get("/mappings/history").text
        assert "Every table is mapped" in client.get("/mappings/unmapped").text
        assert "Nothing is called x" in client.get("/routes?q=x").text
        assert "Nothing is changed" in client.get("/mappings/edit").text

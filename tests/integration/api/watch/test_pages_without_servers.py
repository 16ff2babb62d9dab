"""Pages while ZooKeeper or Kafka does not answer: what was read last, who is away, and a remedy."""

from collections.abc import Callable, Iterator

import httpx
import pytest

from api import app
from deploy.embedded import Kafka, ZooKeeper
from relay.route import DBS, TOPICS
from relay.state import FailoverView, InstanceStatus, InstanceStore, Paths, ServerView
from tests.servers.fixtures import FreshName
from tests.support.page_clients import announce_two_relays
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.kept_back import LETTER, admin_with_letters
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

HTML = {"Accept": "text/html"}
DOCUMENTS = {
    DBS: [{"logicDb": "shop", "realDbs": "shop_01"}],
    TOPICS: [{"logicDb": "shop", "topic": "shop"}],
}
OF_ZOOKEEPER = (
    "/servers",
    "/failover",
    "/failover?instance=shop",
    "/mappings",
    "/mappings?by=topic",
    "/mappings/edit",
    "/mappings/history",
    "/mappings/unmapped",
)
ANSWER_SECONDS = 1.0
"""Timeout of the admin's reads of ZooKeeper. With the usual 3 s the tests wait for minutes."""
LISTS = (
    "/api/v1/instances",
    "/api/v1/instances/shop",
    "/api/v1/instance-groups",
    "/api/v1/relays",
    "/api/v1/placement",
    "/api/v1/failover",
    "/api/v1/mappings/logical",
    "/api/v1/unmapped",
    "/api/v1/unmapped/hidden",
)


@pytest.fixture
def server(new_zookeeper: Callable[..., ZooKeeper]) -> ZooKeeper:
    return new_zookeeper(tick_ms=500)


@pytest.fixture
def admin(server: ZooKeeper, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    monkeypatch.setattr(app, "_ANSWER_SECONDS", ANSWER_SECONDS)
    paths = Paths("/roma/roma")
    with session_with(server.hosts) as session:
        announce_two_relays(session, paths)
        store = InstanceStore(session, paths)
        store.put_status(InstanceStatus("shop", "RUNNING", relay="r1"))
        standby = ServerView("standby", "db2:3306", answers=True, behind=0)
        master = ServerView("master", "db1:3306", answers=True, behind=0)
        store.failover.put_view("shop", FailoverView("master", servers=(master, standby)))
        with admin_client(admin_settings(server.hosts, "roma")) as client:
            wait_until(lambda: client.get("/readyz").status_code == 200, "the admin's ZooKeeper")
            saved = client.put(
                "/api/v1/configs/ROMA_GROUP", json=DOCUMENTS, headers={"If-None-Match": "*"}
            )
            assert saved.status_code in (200, 201), saved.text
            yield client


def stop(server: ZooKeeper, admin: httpx.Client) -> None:
    server.stop()
    wait_until(lambda: admin.get("/readyz").status_code == 503, "the outage to be noticed")


def test_pages_and_lists_show_what_was_read_last(server: ZooKeeper, admin: httpx.Client) -> None:
    for path in OF_ZOOKEEPER:
        assert admin.get(path, headers=HTML).status_code == 200, path
    for path in LISTS:
        answer = admin.get(path, params={"last": True})
        assert (answer.status_code, "x-read-error" in answer.headers) == (200, False), path
        assert int(answer.headers["x-read-ms"]) > 1_700_000_000_000
    stop(server, admin)
    for path in OF_ZOOKEEPER:
        page = admin.get(path, headers=HTML)
        assert page.status_code == 200, path
        assert "<h2>ZooKeeper does not answer</h2>" in page.text, path
        assert server.hosts in page.text
        assert "This page shows the " in page.text, path
        assert "<time datetime=" in page.text
    assert "db2:3306" in admin.get("/failover?instance=shop", headers=HTML).text
    assert "s1" in admin.get("/servers", headers=HTML).text
    assert "Logical database</span> shop" in admin.get("/mappings", headers=HTML).text
    for path in LISTS:
        assert admin.get(path).status_code == 503, path
        old = admin.get(path, params={"last": True})
        assert (old.status_code, old.headers["x-read-error"]) == (200, "ZOOKEEPER_UNREACHABLE")
        assert old.json() or "unmapped" in path, path


def test_pages_of_an_admin_that_has_read_nothing_name_the_server(
    server: ZooKeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "_ANSWER_SECONDS", 0.3)
    server.stop()
    with admin_client(admin_settings(server.hosts, "roma")) as client:
        for path in (*OF_ZOOKEEPER, "/dead-letters"):
            page = client.get(path, headers=HTML)
            assert page.status_code == 200, path
            assert "ZooKeeper does not answer</h2>" in page.text, path
            assert "No relay is running" not in page.text
            assert "Every table is mapped" not in page.text


def test_the_editor_keeps_the_text_while_zookeeper_does_not_answer(
    server: ZooKeeper, admin: httpx.Client
) -> None:
    assert admin.get("/mappings/edit", headers=HTML).status_code == 200
    stop(server, admin)
    form = {"base": "1", "dbs": '[{"logicDb": "typed", "realDbs": "a"}]', "comment": "why"}
    for act in ("edit", "dry-run", "apply", "save"):
        page = admin.post(f"/mappings/{act}", data=form, headers=HTML)
        assert page.status_code == 503, act
        assert "&#34;typed&#34;" in page.text, act
        assert "ZooKeeper does not answer" in page.text, act


def test_the_audit_trail_and_dead_letters_of_a_dead_broker(
    zookeeper: ZooKeeper,
    new_kafka: Callable[..., Kafka],
    fresh_name: FreshName,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broker, name = new_kafka(), fresh_name("dead-broker")
    with admin_with_letters(zookeeper.hosts, broker.bootstrap, name) as client:
        assert "poison" in client.get("/audit", headers=HTML).text
        assert LETTER in client.get("/dead-letters", headers=HTML).text
        broker.kill()
        monkeypatch.setattr("relay.kafka.topics._REQUEST_SECONDS", 1.0)
        page = client.get("/audit", headers=HTML)
        assert page.status_code == 200
        assert "<h2>Kafka does not answer</h2>" in page.text
        assert "This page shows the newest entries of <time" in page.text
        assert "poison" in page.text
        filtered = client.get("/audit", params={"who": "bob"}, headers=HTML)
        assert "poison" not in filtered.text
        letters = client.get("/dead-letters", headers=HTML)
        assert letters.status_code == 200
        assert "Not shown: the dead letters of shop." in letters.text
        assert "Every row that instances read was published" not in letters.text
        assert client.get("/api/v1/audit").status_code == 503
        old = client.get("/api/v1/audit", params={"last": True, "actor": "bob"})
        assert [each["act"] for each in old.json()] == ["flow.set"]
        assert old.headers["x-read-error"] == "BROKER_UNREACHABLE"
        acts = client.get("/api/v1/audit/acts", params={"last": True})
        assert acts.json() == {"acts": ["flow.set", "mapping.saved", "position.set"]}


def test_dead_letters_are_listed_without_keys_while_zookeeper_does_not_answer(
    server: ZooKeeper, kafka: Kafka, fresh_name: FreshName
) -> None:
    name = fresh_name("no-masks")
    with admin_with_letters(server.hosts, kafka.bootstrap, name) as client:
        assert "[&#34;shop.client&#34;" in client.get("/dead-letters", headers=HTML).text
        stop(server, client)
        page = client.get("/dead-letters", headers=HTML)
        assert (page.status_code, LETTER in page.text) == (200, True)
        assert "ZooKeeper does not answer" in page.text
        assert "[&#34;shop.client&#34;" not in page.text

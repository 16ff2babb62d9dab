"""Sets, dry runs, routes, instances and relays over HTTP; what happens while ZooKeeper is away."""

import json
import re
import time
from collections.abc import Callable, Iterator

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from api import app
from deploy.embedded import ZooKeeper
from relay.route import DBS, TAGS, TBS, TOPICS
from relay.state import DroppedName, InstanceStatus, InstanceStore, Membership, Paths, RelayMember
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

GROUP = "/api/v1/configs/ROMA_GROUP"
DOCUMENTS = {
    DBS: [{"logicDb": "shop", "realDbs": "shop_01,shop_02"}],
    TBS: [
        {"logicTb": "client", "realTbs": "user,customer"},
        {"logicTb": "order", "realTbs": "/order_\\d{4}/"},
    ],
    TOPICS: [{"logicDb": "shop", "topic": "shop"}],
    TAGS: [{"logicTb": "client,email", "tag": "client-tag,contact"}],
}
SOURCE = {"host": "127.0.0.1", "user": "u", "server_id": 1}


@pytest.fixture
def installation(fresh_name: FreshName) -> str:
    return fresh_name("api")


@pytest.fixture
def admin(zookeeper: ZooKeeper, installation: str) -> Iterator[httpx.Client]:
    instances = [
        {"name": "shop", "source": SOURCE, "filter": {"filter_black_regex": ".*\\.secret"}}
    ]
    with admin_client(admin_settings(zookeeper.hosts, installation, instances=instances)) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        yield client


@pytest.fixture
def filled(admin: httpx.Client) -> httpx.Client:
    assert admin.put(GROUP, json=DOCUMENTS).status_code == 200
    return admin


@pytest.fixture
def session(zookeeper: ZooKeeper) -> Iterator[Session]:
    with session_with(zookeeper.hosts) as session:
        yield session


@pytest.fixture
def paths(installation: str) -> Paths:
    return Paths(f"/roma/{installation}")


def test_a_dry_run_finds_and_changes_nothing(
    filled: httpx.Client, session: Session, paths: Paths
) -> None:
    InstanceStore(session, paths).put_tables(
        "shop", ["shop_01.order_2024", "shop_01.secret", "other.t"]
    )
    trial = filled.post(
        "/api/v1/mappings/dry-run?table=shop_02.order_2025",
        json={TOPICS: [{"logicDb": "shop", "topic": "a,b"}]},
    )
    assert trial.status_code == 200, trial.text
    assert trial.json()["base"] == 1
    assert trial.json()["acceptable"] is True
    (change,) = trial.json()["changes"]
    assert change["instances"] == ["shop"]
    assert change["sentence"].endswith("moved from topic shop to topics a, b.")
    assert {"shop_01.*", "shop_01.user", "shop_01.order_2024", "shop_02.order_2025"} <= set(
        change["tables"]
    )
    assert not {"shop_01.secret", "other.t"} & set(change["tables"])
    assert filled.get(GROUP).headers["etag"] == '"1"'


def test_a_dry_run_tells_every_problem(filled: httpx.Client) -> None:
    edit = {
        DBS: [{"logicDb": "shop", "realDbs": "a"}, {"logicDb": "crm", "realDbs": "a"}],
        TAGS: [{"logicTb": "x"}],
    }
    trial = filled.post("/api/v1/mappings/dry-run", json=edit, headers={"Authorization": ""}).json()
    assert (trial["acceptable"], trial["changes"]) == (False, [])
    assert [(each["dataId"], each["pointer"]) for each in trial["problems"]] == [(TAGS, "/0/tag")]
    trial = filled.post("/api/v1/mappings/dry-run", json={DBS: json.dumps(edit[DBS])}).json()
    assert {each["pointer"] for each in trial["problems"]} == {"/1/realDbs", "/1/logicDb"}


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"a":1,"a":2}', b"\xff"])
def test_a_dry_run_without_documents_is_refused(admin: httpx.Client, body: bytes) -> None:
    answer = admin.post("/api/v1/mappings/dry-run", content=body)
    assert (answer.status_code, answer.json()["code"]) == (400, "BAD_REQUEST")


def test_sets_are_listed_and_read(filled: httpx.Client) -> None:
    edit = {**DOCUMENTS, TOPICS: [{"logicDb": "shop", "topic": "other"}]}
    assert (
        filled.put(GROUP, json=edit, headers={"If-Match": '"1"', "X-Author": "ann"}).status_code
        == 200
    )
    newest, oldest = filled.get("/api/v1/mappings/sets").json()
    assert (newest["set"], newest["in_force"], newest["author"]) == (2, True, "ann")
    assert (newest["documents"][TOPICS], newest["documents"][DBS]) == (2, 1), (
        "only what changed got a new version"
    )
    assert (oldest["set"], oldest["in_force"]) == (1, False)
    whole = filled.get("/api/v1/mappings/sets/1").json()
    assert {name: json.loads(body) for name, body in whole.pop("bodies").items()} == DOCUMENTS
    assert whole == oldest
    assert filled.get("/api/v1/mappings/sets/9").status_code == 404


def test_a_roll_back_is_a_new_set(filled: httpx.Client) -> None:
    edit = {**DOCUMENTS, TOPICS: [{"logicDb": "shop", "topic": "other"}]}
    assert filled.put(GROUP, json=edit, headers={"If-Match": '"1"'}).status_code == 200
    assert filled.post("/api/v1/mappings/rollback", json={"set": 1}).status_code == 428
    assert (
        filled.post(
            "/api/v1/mappings/rollback", json={"set": 1}, headers={"If-Match": '"1"'}
        ).status_code
        == 412
    )
    assert (
        filled.post(
            "/api/v1/mappings/rollback", json={"set": 9}, headers={"If-Match": '"2"'}
        ).status_code
        == 404
    )
    assert (
        filled.post(
            "/api/v1/mappings/rollback", json={"set": -1}, headers={"If-Match": '"2"'}
        ).status_code
        == 422
    )
    back = filled.post(
        "/api/v1/mappings/rollback", json={"set": 1}, headers={"If-Match": '"2"', "X-Author": "bob"}
    )
    assert (back.status_code, back.headers["etag"]) == (200, '"3"')
    assert (back.json()["set"]["restored_from"], back.json()["set"]["author"]) == (1, "bob")
    assert all(
        "moved from topic other to topic shop" in change["sentence"]
        for change in back.json()["changes"]
    )
    assert filled.get(GROUP).json() == DOCUMENTS


def route_of(client: httpx.Client, database: str, table: str, **more: str) -> dict[str, object]:
    answer = client.get("/api/v1/route", params={"database": database, "table": table, **more})
    assert answer.status_code == 200, answer.text
    body: dict[str, object] = answer.json()
    return body


def test_where_a_real_table_goes(filled: httpx.Client) -> None:
    user = route_of(filled, "shop_02", "user")
    assert (user["outcome"], user["logical_database"], user["logical_table"]) == (
        "published",
        "shop",
        "client",
    )
    assert (user["topics"], user["tags"], user["field_tags"]) == (
        ["shop"],
        ["client-tag"],
        [{"field": "email", "tag": "contact"}],
    )
    assert (user["mapping_set"], user["sentence"]) == (
        1,
        (
            "shop_02.user is published as shop.client to topic shop, tagged client-tag, "
            "contact when email changes."
        ),
    )
    assert route_of(filled, "shop_01", "order_2024")["logical_table"] == "order"
    assert route_of(filled, "shop_01", "new")["logical_table"] == "new"
    assert route_of(filled, "crm", "lead")["outcome"] == "dropped"
    secret = route_of(filled, "shop_01", "secret", instance="shop")
    assert (secret["outcome"], "filter" in str(secret["sentence"])) == ("dropped", True)
    assert filled.get("/api/v1/route?database=a&table=b&instance=none").status_code == 404
    assert filled.get("/api/v1/route?database=a").status_code == 422


def test_instances_that_treat_names_differently_must_be_named(
    zookeeper: ZooKeeper, installation: str
) -> None:
    instances = [
        {"name": "a", "source": SOURCE},
        {"name": "b", "source": SOURCE, "routing": {"unmapped_db": "stop"}},
    ]
    with admin_client(admin_settings(zookeeper.hosts, installation, instances=instances)) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        assert client.get("/api/v1/route?database=d&table=t").status_code == 400
        assert route_of(client, "d", "t", instance="a")["outcome"] == "dropped"
        assert route_of(client, "d", "t", instance="b")["outcome"] == "stop"


def test_instances_are_shown_with_what_they_do_and_whether_anybody_does_it(
    admin: httpx.Client, session: Session, paths: Paths
) -> None:
    (configured,) = admin.get("/api/v1/instances").json()
    assert (configured["name"], configured["state"], configured["relay_alive"]) == (
        "shop",
        "NEVER_REPORTED",
        False,
    )
    assert admin.get("/api/v1/instances/shop").json() == configured
    store = InstanceStore(session, paths)
    store.put_status(
        InstanceStatus(
            "shop",
            "RUNNING",
            relay="r1",
            mapping_set=1,
            position_file="bin.1",
            execute_position=2**62 + 1,
        )
    )
    store.put_status(
        InstanceStatus(
            "crm",
            "STOPPED",
            "BINLOG_PURGED",
            "It is gone.",
            "Start again.",
            relay="r2",
            lag_seconds=7.5,
        )
    )
    Membership(session, paths).announce(
        RelayMember("r1", "host", 7, "http://h:1", ("shop",), 5, "relay-1", 4000)
    )
    crm, shop = admin.get("/api/v1/instances").json()
    assert (shop["state"], shop["relay_alive"], shop["execute_position"]) == (
        "RUNNING",
        True,
        str(2**62 + 1),
    )
    assert (crm["code"], crm["reason"], crm["remedy"], crm["lag_seconds"]) == (
        "BINLOG_PURGED",
        "It is gone.",
        "Start again.",
        7.5,
    )
    assert crm["relay_alive"] is False
    assert admin.get("/api/v1/relays").json() == [
        {
            "name": "r1",
            "host": "host",
            "pid": 7,
            "status_url": "http://h:1",
            "instances": ["shop"],
            "started_ms": 5,
            "server": "relay-1",
            "session_timeout_ms": 4000,
        }
    ]
    missing = admin.get("/api/v1/instances/none")
    assert (missing.status_code, missing.json()["detail"]) == (
        404,
        "There is no instance 'none'; known are crm, shop.",
    )


def test_the_metrics_say_what_session_timeout_zookeeper_granted(admin: httpx.Client) -> None:
    found = re.search(
        r"^roma_zookeeper_session_timeout_seconds (\S+)$", admin.get("/metrics").text, re.MULTILINE
    )
    assert found is not None
    assert float(found[1]) == 4


def test_dropped_names_are_listed(admin: httpx.Client, session: Session, paths: Paths) -> None:
    assert admin.get("/api/v1/instances/shop/dropped").json() == []
    InstanceStore(session, paths).put_dropped(
        "shop", [DroppedName("a.b", "no database mapping lists its database.", 3)]
    )
    (dropped,) = admin.get("/api/v1/instances/shop/dropped").json()
    assert 0 <= time.time() * 1000 - dropped.pop("first_seen_ms") < 60_000
    reason = "no database mapping lists its database."
    assert dropped == {"name": "a.b", "reason": reason, "rows": 3}
    assert admin.get("/api/v1/instances/none/dropped").status_code == 404


def test_the_description_of_the_interface_has_examples(admin: httpx.Client) -> None:
    described = admin.get("/openapi.json").json()
    assert {
        "/api/v1/configs/{group}/{data_id}",
        "/api/v1/configs/{group}/{data_id}/history",
        "/api/v1/mappings/dry-run",
        "/api/v1/mappings/rollback",
        "/api/v1/route",
        "/api/v1/instances/{name}",
        "/api/v1/relays",
    } <= described["paths"].keys()
    put = described["paths"]["/api/v1/configs/{group}/{data_id}"]["put"]
    assert put["requestBody"]["content"]["application/json"]["example"]
    assert put["security"] == [{"HTTPBearer": []}]
    assert "example" in described["components"]["schemas"]["InstanceView"]
    assert "dataId" in described["components"]["schemas"]["MappingProblemView"]["properties"]
    assert admin.get("/docs").status_code == 200


def test_what_is_not_here_is_a_problem_too(admin: httpx.Client) -> None:
    for answer, status in ((admin.get("/nothing"), 404), (admin.delete(GROUP), 405)):
        assert (answer.status_code, answer.headers["content-type"]) == (
            status,
            "application/problem+json",
        )
        assert answer.json()["status"] == status


def test_metrics_count_requests_and_saves(filled: httpx.Client) -> None:
    filled.get(GROUP)
    families = {
        family.name: family
        for family in text_string_to_metric_families(filled.get("/metrics").text)
    }
    routes = {sample.labels["route"] for sample in families["roma_admin_requests"].samples}
    assert "/api/v1/configs/{group}" in routes, routes
    assert any(
        sample.labels["outcome"] == "saved" and sample.value > 0
        for sample in families["roma_admin_mapping_saves"].samples
        if sample.name.endswith("_total")
    )
    assert families["roma_zookeeper_connected"].samples[0].value == 1


def test_without_zookeeper_the_admin_says_so_and_heals(
    new_zookeeper: Callable[..., ZooKeeper], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "_ANSWER_SECONDS", 1.0)
    server = new_zookeeper(tick_ms=500)
    server.stop()
    with admin_client(admin_settings(server.hosts, "roma")) as client:
        assert client.get("/healthz").text == "ok\n"
        ready = client.get("/readyz")
        assert (ready.status_code, ready.text) == (
            503,
            f"No ZooKeeper server answers at {server.hosts}.\n",
        )
        for answer in (
            client.get(GROUP),
            client.put(GROUP, json=DOCUMENTS),
            client.get("/api/v1/instances"),
        ):
            assert (answer.status_code, answer.headers["content-type"]) == (
                503,
                "application/problem+json",
            )
            assert answer.json()["code"] == "ZOOKEEPER_UNREACHABLE"
            assert server.hosts in answer.json()["detail"]
            assert answer.headers["retry-after"] == "5"
        server.start()
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to heal")
        assert client.put(GROUP, json=DOCUMENTS).status_code == 200
        server.stop()
        wait_until(lambda: client.get("/readyz").status_code == 503, "the outage to be noticed")
        assert client.get(GROUP).status_code == 503
        server.start()
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to heal again")
        assert client.get(GROUP).json() == DOCUMENTS

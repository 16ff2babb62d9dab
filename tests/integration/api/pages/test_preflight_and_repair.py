"""Preflight and repairs by page and interface, with a real ZooKeeper and a real Kafka."""

import html
import json
from collections.abc import Iterator

import httpx
import pytest

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from relay.state import InstanceStatus, InstanceStore, Paths, SnapshotStore
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.page_clients import announce_two_relays, csrf_of, page_client

NOWHERE = {"host": "127.0.0.1", "port": 1, "user": "u", "server_id": 7}
REPAIR = "/instances/shop/repair"
JSON = {"Accept": "application/json"}
REPORT = json.dumps(
    {
        "tables": [
            {
                "table": "shop.orders",
                "different": [
                    {"key": '["shop.orders","7"]', "what": "other values"},
                    {"key": '["shop.orders","8"]', "what": "the source has no such row"},
                ],
            }
        ]
    }
)


@pytest.fixture(scope="module")
def installation(fresh_name: FreshName) -> str:
    return fresh_name("repair-page")


@pytest.fixture(scope="module")
def admin(
    zookeeper: ZooKeeper,
    kafka: Kafka,
    mariadb: MariaDB,
    session: Session,
    paths: Paths,
    installation: str,
) -> Iterator[httpx.Client]:
    announce_two_relays(session, paths)
    for name in ("shop", "crm"):
        InstanceStore(session, paths).put_status(InstanceStatus(name, "RUNNING", relay="r1"))
    living = {"host": mariadb.host, "port": mariadb.port, "user": "nobody", "password": "wrong"}
    instances = [
        {
            "name": "shop",
            "source": NOWHERE,
            "spool": "mixed",
            "spooling": {"directory": "/nowhere"},
        },
        {"name": "crm", "source": living},
    ]
    with page_client(zookeeper, kafka, installation, instances=instances) as client:
        yield client


def test_preflight_names_what_fails_with_its_remedy(admin: httpx.Client) -> None:
    page = admin.get("/instances/shop/preflight")
    assert "What is checked" in page.text
    answer = admin.post("/instances/shop/preflight", data={"csrf": csrf_of(page.text)})
    text = html.unescape(answer.text)
    assert answer.status_code == 200
    assert "shop cannot run as configured" in text
    assert "SOURCE_UNREACHABLE" in text
    assert "What to do:" in text
    assert "crm" not in text.split("<main")[1]
    found = admin.post("/api/v1/instances/shop/preflight", headers=JSON).json()
    by_check = {each["check"]: each for each in found["findings"]}
    assert (found["can_run"], found["findings"][0]["verdict"]) == (False, "fail")
    assert by_check["kafka"]["verdict"] == "pass"
    assert by_check["spool"]["verdict"] == "not checked"
    login = admin.post("/api/v1/instances/crm/preflight", headers=JSON).json()["findings"][0]
    assert login["verdict"] == "fail"
    assert "wrong" not in login["sentence"]


def test_a_secret_that_only_relays_have_leaves_the_source_unchecked(admin: httpx.Client) -> None:
    source = {**NOWHERE, "password": "${ROMA_SECRET_OF_RELAYS}"}
    saved = admin.put("/api/v1/instances/late/settings", json={"source": source})
    assert saved.status_code in (200, 201), saved.text
    answer = admin.post("/api/v1/instances/late/preflight", headers=JSON)
    assert answer.status_code == 200, answer.text
    by_check = {each["check"]: each for each in answer.json()["findings"]}
    assert by_check["source"]["verdict"] == "not checked"
    assert "ROMA_SECRET_OF_RELAYS" in by_check["source"]["sentence"]
    assert "roma preflight" in by_check["source"]["remedy"]
    assert by_check["kafka"]["verdict"] == "pass"
    page = admin.post(
        "/instances/late/preflight",
        data={"csrf": csrf_of(admin.get("/instances/shop/preflight").text)},
    )
    assert "No check failed, but some could not be made" in page.text
    assert "late can run" not in page.text


def test_keys_are_foretold_requested_and_in_no_address(
    admin: httpx.Client, session: Session, paths: Paths
) -> None:
    asked = {"table": "shop.orders", "keys": '7\n["shop.orders","8"]\n'}
    form = admin.get(f"{REPAIR}?table=shop.orders").text
    assert 'value="shop.orders"' in form
    preview = admin.post(f"{REPAIR}/preview", data={**asked, "csrf": csrf_of(form)})
    assert "shop.orders: shop reads the present rows of 2 keys from its shards" in preview.text, (
        preview.text
    )
    assert SnapshotStore(session, paths).all_of("shop") == []
    answer = admin.post(REPAIR, data={**asked, "comment": "ticket 7"})
    assert answer.headers["location"] == "../shop/copies?done=repair-requested", answer.text
    [request] = SnapshotStore(session, paths).all_of("shop")
    assert (request.tables, request.keys) == (("shop.orders",), (("7",), ("8",)))
    assert "rows of 2 keys" in admin.get("/instances/shop/copies").text
    assert SnapshotStore(session, paths).all_of("crm") == []


def test_a_report_is_foretold_with_the_rows_that_no_request_can_repair(
    admin: httpx.Client, session: Session, paths: Paths
) -> None:
    preview = html.unescape(admin.post(f"{REPAIR}/preview", data={"report": REPORT}).text)
    assert "the present rows of 1 key from" in preview
    assert "1 rows are not on the source" in preview
    wish = {"report": json.loads(REPORT), "instances": ["crm"]}
    told = admin.post("/api/v1/snapshots/repair/preview", json=wish, headers=JSON).json()
    assert "crm reads the present rows" in told["sentences"][0]
    made = admin.post("/api/v1/snapshots/repair", json=wish, headers=JSON)
    assert made.status_code == 202, made.text
    assert [each["keys"] for each in made.json()["made"]] == [1]
    again = admin.post("/api/v1/snapshots/repair", json=wish, headers=JSON).json()
    assert (again["made"], len(again["under_way"])) == ([], 1)
    assert [each.keys for each in SnapshotStore(session, paths).all_of("crm")] == [(("7",),)]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"table": "shop.orders"}, "No key is given"),
        ({"table": "orders", "keys": "7"}, "is not a logical table name"),
        ({"table": "shop.orders", "keys": "[7"}, "neither a text nor a JSON array"),
        ({"report": "{}"}, "not a report of `roma reconcile`"),
        ({"report": '{"tables": [{"table": "a.b", "different": 5}]}'}, "tables.0.different"),
        ({"table": "shop.orders", "keys": "7", "report": REPORT}, "already names those"),
    ],
)
def test_what_cannot_be_repaired_is_said_in_its_place(
    admin: httpx.Client, asked: dict[str, str], told: str
) -> None:
    text = html.unescape(admin.post(f"{REPAIR}/preview", data=asked).text)
    assert "These rows cannot be repaired" in text
    assert told in text
    assert "What will happen" not in text


def test_an_unknown_instance_has_neither(admin: httpx.Client) -> None:
    for path in ("preflight", "repair"):
        assert admin.get(f"/instances/none/{path}").status_code == 404
    for path in ("instances/none/preflight", "snapshots/repair/preview"):
        body = {"table": "a.b", "keys": ["1"], "instances": ["none"]}
        answer = admin.post(f"/api/v1/{path}", json=body, headers=JSON)
        assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")

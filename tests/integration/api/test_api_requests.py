"""Requests that nobody should send, and what they get."""

import http.client
import json
from collections.abc import Iterator

import httpx
import pytest

from deploy.embedded import ZooKeeper
from relay.route import DBS, TOPICS
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import TOKEN, admin_client, admin_settings
from tests.support.waiting import wait_until

DRY_RUN = "/api/v1/mappings/dry-run"
HALF = "\\ud800"
SOURCE = {"host": "127.0.0.1", "port": 1, "user": "u", "server_id": 7}


@pytest.fixture(scope="module")
def admin(zookeeper: ZooKeeper) -> Iterator[httpx.Client]:
    settings = admin_settings(
        zookeeper.hosts, "requests", instances=[{"name": "shop", "source": SOURCE}]
    )
    with admin_client(settings) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        yield client


def status_of_raw(admin: httpx.Client, method: str, target: str, body: str = "") -> int:
    """The answer's status; the target is sent as it stands here."""
    connection = http.client.HTTPConnection("127.0.0.1", admin.base_url.port, timeout=30)
    connection.request(
        method,
        target,
        body,
        {"Authorization": f"Bearer {TOKEN}", "X-Author": "ann", "If-Match": "*"},
    )
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.parametrize(
    "body",
    [
        f'"{HALF}"',
        f'{{"{HALF}": []}}',
        f'{{"{DBS}": [{{"logicDb": "{HALF}", "realDbs": "a"}}]}}',
        json.dumps({TOPICS: f'[{{"logicDb": "a", "topic": "{HALF}"}}]'}),
        json.dumps({TOPICS: f'[{{"logicDb": "a", "topic": "t", "{HALF}": 1}}]'}),
        "[" * 100_000,
        "\xff",
    ],
)
def test_half_a_character_is_no_accident(admin: httpx.Client, body: str) -> None:
    answer = admin.post(DRY_RUN, content=body.encode("latin-1"))
    assert answer.status_code in (200, 400), answer.text
    assert answer.status_code == 400 or not answer.json()["acceptable"]
    assert admin.put(
        "/api/v1/instances/new/settings", content=body.encode("latin-1")
    ).status_code in (400, 422)
    assert admin.post(
        "/api/v1/instances/shop/position/skip", content=body.encode("latin-1")
    ).status_code in (400, 422)
    assert (
        admin.put(
            f"/api/v1/configs/ROMA_GROUP/{TOPICS}", content=body.encode("latin-1")
        ).status_code
        == 422
    )


@pytest.mark.parametrize("name", ["%2e%2e", "%2E", ".%2e", "a%00b", "%ed%a0%80", "%1b[31m"])
def test_no_name_of_an_address_is_an_accident(admin: httpx.Client, name: str) -> None:
    below = [
        "",
        "/dropped",
        "/settings",
        "/failover",
        "/dead-letters",
        "/flow",
        "/position",
        "/mapping",
    ]
    for child in below:
        assert status_of_raw(admin, "GET", f"/api/v1/instances/{name}{child}") == 404, child
    assert status_of_raw(admin, "DELETE", f"/api/v1/instances/{name}/settings") == 404
    assert status_of_raw(
        admin, "PUT", f"/api/v1/instances/{name}/settings", json.dumps({"source": SOURCE})
    ) in (404, 412, 422)
    assert status_of_raw(admin, "POST", f"/api/v1/instances/{name}/pause") == 404
    assert status_of_raw(admin, "GET", f"/api/v1/configs/ROMA_GROUP/{name}/history") == 404
    assert status_of_raw(admin, "PUT", f"/api/v1/placement/maintenance/{name}") in (404, 422)
    assert status_of_raw(admin, "DELETE", f"/api/v1/placement/maintenance/{name}") == 404
    assert status_of_raw(admin, "PUT", f"/api/v1/placement/moves/{name}", '{"to": "x"}') == 404


def test_a_source_that_cannot_be_asked_is_no_accident(admin: httpx.Client) -> None:
    answer = admin.get("/api/v1/instances/shop/position/search?timestamp=1700000000000&file=x")
    assert answer.status_code in (409, 502, 503), answer.text


def test_a_variable_that_only_relays_have_is_named_where_it_is_needed(admin: httpx.Client) -> None:
    source = {**SOURCE, "password": "${ROMA_SECRET_OF_RELAYS}"}
    assert admin.put("/api/v1/instances/far/settings", json={"source": source}).status_code == 201
    answer = admin.get("/api/v1/instances/far/position/search?timestamp=1700000000000")
    assert (answer.status_code, answer.json()["code"]) == (409, "CONFIGURATION")
    assert "ROMA_SECRET_OF_RELAYS" in answer.json()["detail"]
    read = admin.get("/api/v1/instances/far/position")
    assert (read.status_code, read.json()["code"]) == (
        503,
        "BROKER_UNREACHABLE",
    )  # it needs Kafka alone


def test_every_body_is_json_whatever_its_type_is_said_to_be(
    admin: httpx.Client, fresh_name: FreshName
) -> None:
    body = b'{"to": "nowhere"}'
    for stated in (
        {},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "text/plain"},
    ):
        assert (
            admin.put("/api/v1/placement/moves/shop", content=body, headers=stated).status_code
            == 404
        )
    assert (
        admin.put(
            "/api/v1/placement/moves/shop",
            content=b"no",
            headers={"Content-Type": "application/json"},
        ).status_code
        == 422
    )


def test_allow_names_every_method(admin: httpx.Client) -> None:
    for address, methods in {
        "/api/v1/instances/shop/settings": "DELETE, GET, OPTIONS, PUT",
        "/api/v1/configs/ROMA_GROUP": "GET, OPTIONS, PUT",
        "/api/v1/instances/shop/position": "GET, OPTIONS, POST",
        "/api/v1/audit": "GET, OPTIONS",
    }.items():
        asked, wrong = admin.options(address), admin.patch(address)
        assert (asked.status_code, asked.headers["allow"]) == (204, methods)
        assert (wrong.status_code, wrong.headers["allow"], wrong.json()["code"]) == (
            405,
            methods,
            "METHOD_NOT_ALLOWED",
        )


def test_errors_are_described_as_they_are_sent(admin: httpx.Client) -> None:
    document = admin.get("/openapi.json").json()
    assert "HTTPValidationError" not in document["components"]["schemas"]
    for path, operations in document["paths"].items():
        for operation in operations.values():
            errors = {
                status: each for status, each in operation["responses"].items() if status[0] in "45"
            }
            assert path == "/readyz" or {"4XX", "502", "503"} == set(errors)
            assert path == "/readyz" or all(
                list(each["content"]) == ["application/problem+json"] for each in errors.values()
            )

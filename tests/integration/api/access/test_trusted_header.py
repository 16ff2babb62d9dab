"""Callers whom a proxy names, at an admin on real ZooKeeper. The proxy is 127.0.0.5."""

from collections.abc import Iterator

import httpx
import pytest
from structlog.testing import capture_logs

from deploy.embedded import ZooKeeper
from relay.deadline import Deadline
from relay.model.accounts import Grant, Identity, Role
from relay.operations import AccountEditor, Who
from relay.settings import RelaySettings
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import TOKEN, admin_settings, serving
from tests.support.waiting import wait_until

PROXY, STRANGER = "127.0.0.5", "127.0.0.1"
READ = "/api/v1/placement"
DRAIN = "/api/v1/placement/maintenance/srv"
ANN = {"X-User": "ann", "X-Groups": "staff, ops"}
OWN = {"Sec-Fetch-Site": "same-origin"}
WHO = Who("test")
PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def settings(zookeeper: ZooKeeper, fresh_name: FreshName) -> RelaySettings:
    header = {
        "user": "X-User",
        "roles_header": "X-Groups",
        "roles": {"ops": "operator", "all": "viewer"},
        "values": ["rows"],
        "proxies": [PROXY],
    }
    api = {"port": 0, "token": TOKEN, "behind_proxy": True, "trusted_header": header}
    return admin_settings(zookeeper.hosts, fresh_name("header"), api=api)


@pytest.fixture(scope="module")
def editor(settings: RelaySettings) -> Iterator[AccountEditor]:
    session = Session(settings.zookeeper)
    session.start(Deadline.after(60))
    made = AccountEditor(settings, session)
    made.add_user("root", Grant(Role.ADMIN), WHO, password=PASSWORD)
    made.add_user("gone", Grant(Role.ADMIN), WHO)
    made.set_disabled("gone", WHO, disabled=True)
    made.sign_in_by_provider("eve", Identity("https://id.example", "1"), Grant(Role.VIEWER))
    made.add_user("bot", Grant(Role.VIEWER), WHO)
    yield made
    made.close(0)
    session.stop()


@pytest.fixture(scope="module")
def url(settings: RelaySettings, editor: AccountEditor) -> Iterator[str]:
    with serving(settings) as server:
        ready = f"{server.url}/readyz"
        wait_until(
            lambda: httpx.get(ready, trust_env=False, timeout=60).status_code == 200,
            "the admin's ZooKeeper",
        )
        yield server.url


def asked(
    url: str,
    headers: dict[str, str] | list[tuple[str, str]],
    sender: str,
    path: str = READ,
    method: str = "GET",
) -> tuple[int, str]:
    """Send a request from an address of this machine: its status, and the code of a problem."""
    with httpx.Client(
        base_url=url, transport=httpx.HTTPTransport(local_address=sender), timeout=30
    ) as client:
        answer = client.request(method, path, headers=headers)
    return answer.status_code, "" if answer.is_success else answer.json()["code"]


READS: dict[str, tuple[dict[str, str] | list[tuple[str, str]], str, int, str]] = {
    "the proxy": (ANN, PROXY, 200, ""),
    "the proxy for a client": ({**ANN, "X-Forwarded-For": "203.0.113.7"}, PROXY, 200, ""),
    "another peer": (ANN, STRANGER, 403, "HEADER_REFUSED"),
    "another peer that calls itself the proxy": (
        {**ANN, "X-Forwarded-For": PROXY},
        STRANGER,
        403,
        "HEADER_REFUSED",
    ),
    "another peer with a token": (
        {**ANN, "Authorization": f"Bearer {TOKEN}"},
        STRANGER,
        403,
        "HEADER_REFUSED",
    ),
    "two users": ([*ANN.items(), ("x-user", "root")], PROXY, 403, "HEADER_REFUSED"),
    "two lists of roles": ([*ANN.items(), ("x-groups", "ops")], PROXY, 403, "HEADER_REFUSED"),
    "no role": ({"X-User": "ann", "X-Groups": "staff"}, PROXY, 403, "HEADER_USER_REFUSED"),
    "no list of roles": ({"X-User": "ann"}, PROXY, 403, "HEADER_USER_REFUSED"),
    "no name": ({**ANN, "X-User": ""}, PROXY, 403, "HEADER_USER_REFUSED"),
    "a strange name": ({**ANN, "X-User": "ann<script>"}, PROXY, 403, "HEADER_USER_REFUSED"),
    "the name of a user with a password": (
        {**ANN, "X-User": "root"},
        PROXY,
        403,
        "HEADER_USER_REFUSED",
    ),
    "the name of a provider's user": (
        {**ANN, "X-User": "eve"},
        PROXY,
        403,
        "HEADER_USER_REFUSED",
    ),
    "a disabled user": ({**ANN, "X-User": "gone"}, PROXY, 403, "HEADER_USER_REFUSED"),
    "a user of tokens alone": ({**ANN, "X-User": "bot"}, PROXY, 200, ""),
    "the name of the token of the file": (
        {**ANN, "X-User": "api.token"},
        PROXY,
        403,
        "HEADER_USER_REFUSED",
    ),
    "no header": ({}, PROXY, 401, "TOKEN_MISSING"),
    "a token through the proxy": ({"Authorization": f"Bearer {TOKEN}"}, PROXY, 200, ""),
    "a wrong token beside the header": (
        {**ANN, "Authorization": "Bearer x"},
        PROXY,
        401,
        "TOKEN_WRONG",
    ),
}


@pytest.mark.parametrize("case", READS)
def test_the_header_counts_from_the_proxy_alone(url: str, case: str) -> None:
    headers, sender, status, code = READS[case]
    assert asked(url, headers, sender) == (status, code)


def test_a_strange_name_is_answered_with_the_form_of_names(url: str) -> None:
    headers = {**ANN, "X-User": "ann<script>"}
    with httpx.Client(transport=httpx.HTTPTransport(local_address=PROXY), timeout=30) as client:
        answer = client.get(f"{url}{READ}", headers=headers)
    assert "at most 100 characters" in answer.json()["remedy"]


CHANGES: dict[str, tuple[dict[str, str], int, str]] = {
    "its own page": (OWN, 200, ""),
    "a program": ({"X-CSRF-Token": "x"}, 200, ""),
    "nothing said": ({}, 403, "FORGERY_REFUSED"),
    "another site": ({"Sec-Fetch-Site": "cross-site"}, 403, "FORGERY_REFUSED"),
    "a sibling": ({"Sec-Fetch-Site": "same-site"}, 403, "FORGERY_REFUSED"),
    "another origin": ({"Origin": "https://evil.example"}, 403, "FORGERY_REFUSED"),
    "no origin": ({"Origin": "null"}, 403, "FORGERY_REFUSED"),
    "another origin with the token": (
        {"Origin": "https://evil.example", "X-CSRF-Token": "x"},
        403,
        "FORGERY_REFUSED",
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_says_which_page_sent_it(url: str, case: str) -> None:
    headers, status, code = CHANGES[case]
    assert asked(url, {**ANN, **headers}, PROXY, DRAIN, "PUT") == (status, code)


def test_rights_are_those_of_the_header_and_acts_are_the_user_s(url: str) -> None:
    transport = httpx.HTTPTransport(local_address=PROXY)
    with httpx.Client(base_url=url, transport=transport, timeout=30) as client:
        drained = client.put(DRAIN, headers={**ANN, **OWN, "X-Author": "root"}).json()
        assert drained["maintenance"][0]["author"] == "ann"
        reader = {"X-User": "ben", "X-Groups": "all,rows"}
        shown = client.get("/api/v1/session", headers=reader).json()
        assert (shown["name"], shown["rights"]) == ("ben", ["read", "values"])
        page = client.get("/users", headers={**reader, "Accept": "text/html"}).text
        assert "A proxy has signed <b>ben</b> in" in page
    assert asked(url, {**reader, **OWN}, PROXY, DRAIN, "PUT") == (403, "RIGHT_MISSING")


def test_a_refused_header_is_audited_by_the_address_of_the_connection(url: str) -> None:
    with capture_logs() as noted:
        asked(url, {**ANN, "X-Forwarded-For": "203.0.113.7"}, STRANGER, "/healthz")
    acts = [each["after"] for each in noted if each.get("act") == "session.refused"]
    assert acts == [{"user": "", "address": STRANGER, "left_out": 0, "code": "HEADER_REFUSED"}]

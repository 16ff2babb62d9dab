"""Requests that no browser and no client library sends, on a real admin with users.

A row of the tables is a request and the status of its one answer. No row may change anything, open
an endpoint, or end the process.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import httpx
import pytest

from api import guard
from deploy.embedded import ZooKeeper
from tests.servers.fixtures import FreshName
from tests.support.hostile_rows import BODIES, CONFIGS, DRAIN, RAW, USERS
from tests.support.raw_requests import answer_of, status_of
from tests.support.relays.admin_server import TOKEN, admin_client, admin_settings
from tests.support.waiting import wait_until

PASSWORD: Final = "correct horse battery"


@dataclass(frozen=True, slots=True)
class Admin:
    """The admin, and the tokens of a viewer and of an administrator."""

    client: httpx.Client
    viewer: str
    admin: str

    @property
    def port(self) -> int:
        assert self.client.base_url.port is not None
        return self.client.base_url.port


@pytest.fixture(scope="module")
def served(zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[Admin]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guard, "BODY_SECONDS", 1.0)
        with admin_client(admin_settings(zookeeper.hosts, fresh_name("hostile"))) as client:
            wait_until(lambda: client.get("/readyz").status_code == 200, "the admin's ZooKeeper")
            viewer = user_with_token(client, "vic", "viewer")
            yield Admin(client, viewer, user_with_token(client, "root", "admin"))


def user_with_token(client: httpx.Client, name: str, role: str) -> str:
    tag = {"If-None-Match": "*"}
    user = {"role": role, "password": PASSWORD}
    assert client.put(f"{USERS}/{name}", json=user, headers=tag).status_code == 201
    made = client.put(f"/api/v1/tokens/{name}", json={"owner": name, "role": role})
    return str(made.json()["token"])


@pytest.mark.parametrize("case", RAW)
def test_a_request_has_one_answer_and_no_effect(served: Admin, case: str) -> None:
    request, status = RAW[case]
    filled = request.replace("<viewer>", served.viewer).replace("<admin>", served.admin)
    answer = answer_of(served.port, filled.encode("latin-1"))
    assert (status_of(answer), answer.count(b"HTTP/1.1 ")) == (status, 1), answer
    for secret in (served.admin, served.viewer, TOKEN, "Traceback", '"role"'):
        assert secret.encode() not in answer
    assert served.client.get("/api/v1/placement").json()["maintenance"] == []
    assert len(served.client.get("/api/v1/tokens").json()) == 2


@pytest.mark.parametrize(
    "first", [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 90, b"\0" * 99]
)
def test_bytes_that_are_no_request_are_refused(served: Admin, first: bytes) -> None:
    assert status_of(answer_of(served.port, first + b"\r\n\r\n")) == 400


@pytest.mark.parametrize("case", BODIES)
def test_a_body_of_another_form_is_refused(served: Admin, case: str) -> None:
    method, path, body, status = BODIES[case]
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    headers = {"Authorization": f"Bearer {served.admin}", **({} if path[:4] == "/api" else form)}
    answer = served.client.request(method, path, content=body, headers=headers)
    assert answer.status_code == status, answer.text
    assert "Traceback" not in answer.text
    assert "Check the address" not in answer.text or status == 404
    assert len(served.client.get(USERS).json()) == 2
    assert served.client.get(CONFIGS).json() == {}


NAMES = (
    *("vi\u202ec", "v\u200dic", "\uff56ic", "v\u0456c", "vic ", "vic\n", "v\0ic", "v" * 101),
    *("\xe9", "\U0001f600", "%2e%2e", "-rf", "'--", '"><script>', "vic,root", "\ufeffvic"),
)
"""They look like another name, or a page, a header or a path would read them as more."""


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_other_characters_is_no_user_and_no_token(served: Admin, name: str) -> None:
    wishes: dict[str, dict[str, Any]] = {
        USERS: {"role": "admin"},
        "/api/v1/tokens": {"owner": "vic", "role": "viewer"},
    }
    for path, wish in wishes.items():
        answer = served.client.put(f"{path}/{quote(name, safe='')}", json=wish)
        assert (answer.status_code, answer.json()["code"]) == (409, "ACCOUNT_REFUSED")
        assert len(served.client.get(path).json()) == 2


def browser(served: Admin) -> tuple[str, str]:
    """Sign in as the administrator; return the session's cookie and its CSRF token."""
    with httpx.Client(base_url=served.client.base_url, trust_env=False, timeout=60) as client:
        answer = client.post("/api/v1/session", json={"name": "root", "password": PASSWORD})
        assert answer.status_code == 200, answer.text
        return answer.headers["set-cookie"].split(";")[0], answer.json()["csrf"]


def test_a_session_cannot_be_used_by_another_page_or_another_session(served: Admin) -> None:
    (own, csrf), (other, other_csrf) = browser(served), browser(served)
    assert own != other
    cases: dict[str, tuple[dict[str, str], int]] = {
        "no CSRF token": ({}, 403),
        "an empty one": ({"X-CSRF-Token": ""}, 403),
        "one of another session": ({"X-CSRF-Token": other_csrf}, 403),
        "the secret itself": ({"X-CSRF-Token": own.partition("=")[2]}, 403),
        "in a cookie": ({"Cookie": f"{own}; csrf={csrf}"}, 403),
        "two sessions": ({"Cookie": f"{own}; {other}", "X-CSRF-Token": csrf}, 403),
        "from a sister site": ({"X-CSRF-Token": csrf, "Sec-Fetch-Site": "same-site"}, 403),
        "from nowhere": ({"X-CSRF-Token": csrf, "Origin": "null"}, 403),
        "from another port": ({"X-CSRF-Token": csrf, "Origin": "http://127.0.0.1:1"}, 403),
        "from no address": ({"X-CSRF-Token": csrf, "Origin": "http://[::1"}, 403),
        "beside a wrong token": ({"X-CSRF-Token": csrf, "Authorization": "Bearer x"}, 401),
        "beside a weak token": ({"Authorization": f"Bearer {served.viewer}"}, 403),
        "a cookie of a path": ({"Cookie": "roma_session=../../users", "X-CSRF-Token": csrf}, 401),
        "a long cookie": ({"Cookie": f"roma_session={'x' * 6_000}", "X-CSRF-Token": csrf}, 401),
    }
    with httpx.Client(base_url=served.client.base_url, trust_env=False, timeout=60) as client:
        found = {
            case: client.put(DRAIN, headers={"Cookie": own, **headers}).status_code
            for case, (headers, _) in cases.items()
        }
        by_query = client.put(DRAIN, params={"csrf": csrf}, headers={"Cookie": own})
    assert found == {case: status for case, (_, status) in cases.items()}
    assert by_query.status_code == 403
    assert served.client.get("/api/v1/placement").json()["maintenance"] == []


def test_addresses_that_a_client_invents_do_not_hide_wrong_passwords(served: Admin) -> None:
    found: list[int] = []
    for number in range(8):
        address = f"10.0.0.{number}"
        headers = {"X-Forwarded-For": address, "Forwarded": f"for={address}", "X-Real-IP": address}
        wrong = {"name": "vic", "password": "wrong"}
        answer = served.client.post("/api/v1/session", json=wrong, headers=headers)
        found.append(answer.status_code)
    assert found[0] == 401
    assert found[-1] == 429

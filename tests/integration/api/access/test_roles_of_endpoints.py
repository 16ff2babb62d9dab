"""Each endpoint asked with a token of each role, on a real admin: the table of rights decides.

The requests announce a body that is too large. The admin checks rights before the size, so a
refused caller gets 403 and an admitted one 413, and no endpoint acts.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final

import pytest

from api.access.endpoints import RIGHTS
from deploy.embedded import ZooKeeper
from relay.model.accounts import Role, rights_of
from tests.servers.fixtures import FreshName
from tests.support.raw_requests import answer_of, status_of
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.waiting import wait_until

GRANTS: Final = list(product(Role, (False, True)))


@dataclass(frozen=True, slots=True)
class Callers:
    """The port of an admin, and a token of each grant."""

    port: int
    tokens: dict[tuple[Role, bool], str]


@pytest.fixture(scope="module")
def callers(zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[Callers]:
    with admin_client(admin_settings(zookeeper.hosts, fresh_name("roles"))) as admin:
        wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        user = {"role": "admin", "values": True}
        assert admin.put("/api/v1/users/ann", json=user).status_code == 201
        tokens: dict[tuple[Role, bool], str] = {}
        for number, (role, values) in enumerate(GRANTS):
            wish = {"owner": "ann", "role": role.value, "values": values}
            tokens[role, values] = admin.put(f"/api/v1/tokens/t{number}", json=wish).json()["token"]
        assert admin.base_url.port is not None
        yield Callers(admin.base_url.port, tokens)


def asked(port: int, endpoint: str, token: str) -> tuple[int, bool]:
    """Return the status, and whether a right is missing."""
    method, _, template = endpoint.partition(" ")
    path = re.sub(r"{(number|version)}", "1", template).replace("{", "").replace("}", "")
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        "Accept: application/json\r\nContent-Length: 999999999\r\nExpect: 100-continue\r\n"
        "Connection: close\r\n\r\n"
    )
    answer = answer_of(port, head.encode())
    return status_of(answer), b"RIGHT_MISSING" in answer


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("role", "values"), GRANTS)
def test_an_endpoint_admits_whom_the_table_names(
    callers: Callers, role: Role, values: bool
) -> None:
    token, rights = callers.tokens[role, values], rights_of(role, values=values)
    wrong: dict[str, object] = {}
    for endpoint, needed in RIGHTS.items():
        if not needed:
            continue
        found = asked(callers.port, endpoint, token)
        if found != ((413, False) if needed <= rights else (403, True)):
            wrong[endpoint] = found
    assert wrong == {}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("token", ["", "roma_guessed"])
def test_an_endpoint_admits_nobody_without_a_valid_token(callers: Callers, token: str) -> None:
    found = {
        endpoint: asked(callers.port, endpoint, token)
        for endpoint, needed in RIGHTS.items()
        if needed
    }
    assert {endpoint: each for endpoint, each in found.items() if each != (401, False)} == {}

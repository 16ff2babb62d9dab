"""Each route of the admin is in the table of rights, and the table decides who may call it."""

from collections.abc import Iterator

import httpx
import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.routing import Mount, Route

from api.access import Caller
from api.access.endpoints import RIGHTS
from api.app import _ROUTERS, create_app
from api.errors import RightMissing
from api.guard import Guard
from api.middleware.hosts import AllowedHosts
from api.web import ROUTERS
from relay.model.accounts import Right, Role, rights_of
from tests.support.relays.admin_server import admin_client, admin_settings

SETTINGS = admin_settings("127.0.0.1:1", "none")
ENDPOINTS = sorted(
    f"{method} {route.path}"
    for router in (*(each.router for each in _ROUTERS), *ROUTERS)
    for route in router.routes
    if isinstance(route, APIRoute)
    for method in route.methods or ()
)
LEAST = {
    Right.READ: Role.VIEWER,
    Right.EDIT: Role.EDITOR,
    Right.OPERATE: Role.OPERATOR,
    Right.ADMINISTER: Role.ADMIN,
}


def placed(endpoint: str) -> tuple[str, str]:
    """The endpoint's method, and a path that its template takes."""
    method, path = endpoint.split(" ")
    return method, path.replace("{version}", "1").replace("{number}", "1").replace("{", "").replace(
        "}", ""
    )


@pytest.fixture(scope="module")
def admin() -> Iterator[httpx.Client]:
    with admin_client(SETTINGS) as client:
        yield client


def test_the_table_has_each_route_and_no_other() -> None:
    own = {
        f"{method} {route.path}"
        for route in create_app(SETTINGS).routes
        if isinstance(route, Route)
        for method in (route.methods or ())
        if method != "HEAD"
    }
    assert own | set(ENDPOINTS) == set(RIGHTS)


def test_beside_the_table_there_are_only_files_that_come_with_the_installation() -> None:
    mounted = [route.path for route in create_app(SETTINGS).routes if isinstance(route, Mount)]
    assert mounted == ["/assets", "/static"]


def test_an_admin_with_a_route_that_the_table_lacks_does_not_start() -> None:
    router = APIRouter()
    router.get("/api/v1/forgotten")(lambda: None)
    with pytest.raises(KeyError, match="GET /api/v1/forgotten"):
        Guard(create_app(SETTINGS), router.routes, AllowedHosts(["*"]))


def test_an_admin_with_a_router_inside_another_one_does_not_start() -> None:
    inner, outer = APIRouter(), APIRouter()
    inner.get("/")(lambda: None)
    outer.include_router(inner)
    with pytest.raises(TypeError, match="hides its endpoints"):
        Guard(create_app(SETTINGS), outer.routes, AllowedHosts(["*"]))


def test_no_endpoint_that_changes_something_is_open_to_viewers() -> None:
    tried = ("/dry-run", "/preview", "/peek", "/merge")
    own = (
        "/first-admin",
        "/session",
        "/session/password",
        "/login",
        "/logout",
        "/me/password",
        "/me/sign-out",
    )
    writes = [
        each for each in ENDPOINTS if not each.startswith("GET ") and not each.endswith(tried + own)
    ]
    assert len(writes) > 20
    for each in writes:
        assert RIGHTS[each] - rights_of(Role.VIEWER, values=True), each


def test_values_and_replays_of_dead_letters_need_the_right_to_values_of_rows() -> None:
    letters = [each for each in ENDPOINTS if "/dead-letters" in each]
    assert len(letters) == 9
    closed = {each for each in letters if Right.VALUES in RIGHTS[each]}
    assert closed == {each for each in letters if each.endswith(("/value", "/replay"))}


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("role", Role)
def test_each_role_calls_what_the_table_allows(role: Role, values: bool) -> None:
    caller, roles = Caller("ann", rights_of(role, values=values)), list(Role)
    for endpoint in ENDPOINTS:
        needed = RIGHTS[endpoint]
        if all(
            values if each is Right.VALUES else roles.index(role) >= roles.index(LEAST[each])
            for each in needed
        ):
            caller.check(needed)
        else:
            with pytest.raises(RightMissing, match="ann"):
                caller.check(needed)


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_without_a_token_only_reads_reach_their_endpoint(
    admin: httpx.Client, endpoint: str
) -> None:
    method, path = placed(endpoint)
    with httpx.Client(base_url=admin.base_url, trust_env=False, timeout=30) as nobody:
        answer = (
            nobody.options(path)
            if RIGHTS[endpoint] <= {Right.READ}
            else nobody.request(method, path)
        )
    assert answer.status_code == (204 if RIGHTS[endpoint] <= {Right.READ} else 401)
    assert answer.status_code == 204 or answer.json()["code"] == "TOKEN_MISSING"


BODIES = sorted(
    f"{method} {route.path}"
    for router in (each.router for each in _ROUTERS)
    for route in router.routes
    if isinstance(route, APIRoute) and route.body_field is not None
    for method in route.methods or ()
)


@pytest.mark.parametrize("endpoint", BODIES)
def test_a_body_with_a_repeated_key_is_refused_everywhere(
    admin: httpx.Client, endpoint: str
) -> None:
    method, path = placed(endpoint)
    answer = admin.request(method, path, content=b'{"a": [{"b": 1, "b": 2}]}')
    assert (answer.status_code, answer.json()["code"]) == (400, "BAD_REQUEST")
    assert "an object has more than one b" in answer.json()["detail"]


def test_the_description_names_the_rights(admin: httpx.Client) -> None:
    described = admin.get("/openapi.json").json()["paths"]
    for endpoint in ENDPOINTS:
        method, path = endpoint.split(" ")
        if path not in described and not path.startswith("/api/"):
            continue  # a page
        operation = described[path][method.lower()]
        assert operation["x-rights"] == sorted(RIGHTS[endpoint])
        assert ("security" in operation) == (not RIGHTS[endpoint] <= {Right.READ})


def test_while_zookeeper_is_away_nobody_reads_without_the_token_of_the_file(
    admin: httpx.Client,
) -> None:
    for header in ({}, {"Authorization": "Bearer roma_guessed"}):
        answer = httpx.get(
            f"{admin.base_url}/api/v1/audit", headers=header, trust_env=False, timeout=30
        )
        assert (answer.status_code, answer.json()["code"]) == (503, "ZOOKEEPER_UNREACHABLE")

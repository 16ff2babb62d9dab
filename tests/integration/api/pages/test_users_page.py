"""Users and tokens on real ZooKeeper, changed by pages and by the interface."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import httpx
import pytest

from deploy.embedded import ZooKeeper
from relay.settings import RelaySettings
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.waiting import wait_until

PASSWORD = "correct horse battery"
OTHER = "another long one"
USERS = "/api/v1/users"
TOKENS = "/api/v1/tokens"
SignIn = Callable[[str], httpx.Client]


@pytest.fixture
def settings(zookeeper: ZooKeeper, fresh_name: FreshName) -> RelaySettings:
    return admin_settings(zookeeper.hosts, fresh_name("accounts"))


@pytest.fixture
def admin(settings: RelaySettings) -> Iterator[httpx.Client]:
    """A client with the token of the file; ann is an administrator and ben a viewer."""
    with admin_client(settings) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        for name, role in (("ann", "admin"), ("ben", "viewer")):
            tag = client.get(USERS).headers["etag"]
            made = client.put(
                f"{USERS}/{name}",
                json={"role": role, "password": PASSWORD},
                headers={"If-Match": tag},
            )
            assert made.status_code == 201, made.text
        yield client


@pytest.fixture
def signed_in(admin: httpx.Client) -> Iterator[SignIn]:
    """Opens browsers that are signed in as a user."""
    with ExitStack() as opened:

        def sign_in(name: str) -> httpx.Client:
            client = opened.enter_context(
                httpx.Client(base_url=admin.base_url, trust_env=False, timeout=60)
            )
            client.headers["Accept"] = "text/html"
            answer = client.post("/api/v1/session", json={"name": name, "password": PASSWORD})
            assert answer.status_code == 200, answer.text
            client.headers["X-CSRF-Token"] = answer.json()["csrf"]
            return client

        yield sign_in


def state_of(page: httpx.Response) -> str:
    return page.text.split('name="state" value="')[1].split('"')[0]


def test_changes_of_users_need_the_state_that_they_were_made_from(admin: httpx.Client) -> None:
    listed = admin.get(USERS)
    assert [(each["name"], each["role"], each["has_password"]) for each in listed.json()] == [
        ("ann", "admin", True),
        ("ben", "viewer", True),
    ]
    assert "argon2" not in listed.text
    change, tag = {"role": "editor"}, listed.headers["etag"]
    assert admin.put(f"{USERS}/ben", json=change).status_code == 428
    changed = admin.put(f"{USERS}/ben", json=change, headers={"If-Match": tag})
    assert (changed.status_code, changed.json()["role"]) == (200, "editor")
    late = admin.put(f"{USERS}/ben", json={"role": "admin"}, headers={"If-Match": tag})
    assert (late.status_code, late.json()["code"]) == (412, "PRECONDITION_FAILED")
    weak = admin.put(
        f"{USERS}/eve", json={"role": "viewer", "password": "short"}, headers={"If-Match": "*"}
    )
    assert weak.status_code in (409, 412)
    assert "short" not in weak.json()["detail"]


def test_a_token_is_shown_once_and_revoked_at_once(admin: httpx.Client) -> None:
    made = admin.put(f"{TOKENS}/ci", json={"owner": "ben", "role": "viewer"})
    assert (made.status_code, made.headers["cache-control"]) == (201, "no-store")
    bearer = {"Authorization": f"Bearer {made.json()['token']}"}
    assert admin.get("/api/v1/placement", headers=bearer).status_code == 200
    assert admin.get(USERS, headers=bearer).status_code == 403
    assert made.json()["token"] not in admin.get(TOKENS).text
    again = admin.put(f"{TOKENS}/ci", json={"owner": "ben", "role": "viewer"})
    assert (again.status_code, again.json()["code"]) == (409, "ACCOUNT_REFUSED")
    excess = admin.put(f"{TOKENS}/more", json={"owner": "ben", "role": "admin"})
    assert (excess.status_code, excess.json()["code"]) == (409, "ACCOUNT_REFUSED")
    assert admin.delete(f"{TOKENS}/ci").status_code == 204
    assert admin.get("/api/v1/placement", headers=bearer).status_code == 401
    assert admin.delete(f"{TOKENS}/ci").status_code == 404


def test_an_administrator_adds_changes_and_disables_users_on_the_page(signed_in: SignIn) -> None:
    ann, ben = signed_in("ann"), signed_in("ben")
    new = {"name": "eve", "role": "operator", "password": OTHER, "comment": "on call"}
    added = ann.post("/users", data=new)
    assert (added.status_code, added.headers["location"]) == (303, "users?done=user-added")
    assert "The user was added." in ann.get("/users?done=user-added").text
    twice = ann.post("/users", data=new)
    assert twice.status_code == 412
    assert 'value="eve"' in twice.text
    page = ann.get("/users?edit=ben")
    disabled = {"name": "ben", "state": state_of(page), "role": "viewer", "disabled": "on"}
    assert ann.post("/users", data=disabled).status_code == 303
    assert ben.get("/users").status_code == 303  # led to the form for signing in
    late = ann.post("/users", data=disabled)
    assert late.status_code == 412
    own = {"name": "ann", "state": state_of(ann.get("/users?edit=ann")), "role": "viewer"}
    refused = ann.post("/users", data=own)
    assert refused.status_code == 409
    assert "You cannot disable your own account" in refused.text
    assert ann.get(USERS).status_code == 200


def test_a_token_of_the_page_is_in_one_answer_alone(signed_in: SignIn) -> None:
    ann = signed_in("ann")
    form = {"name": "grafana", "owner": "ben", "role": "viewer", "days": "90"}
    made = ann.post("/users/tokens", data=form)
    secret = made.text.split('<code class="secret">')[1].split("<")[0]
    assert secret.startswith("roma_")
    assert made.headers["cache-control"] == "no-store"
    listed = ann.get("/users").text
    assert secret not in listed
    assert secret[-4:] in listed
    assert ann.post("/users/tokens", data=form).status_code == 409
    gone = ann.post("/users/tokens/revoke", data={"name": "grafana"})
    assert (gone.status_code, gone.headers["location"]) == (303, "../../users?done=token-revoked")
    assert ann.post("/users/tokens/revoke", data={"name": "grafana"}).status_code == 404


def test_a_viewer_sees_and_changes_the_own_account_alone(signed_in: SignIn) -> None:
    ben = signed_in("ben")
    page = ben.get("/users")
    assert "Signed in as <b>ben</b>" in page.text
    assert "ann" not in page.text.replace("cannot", "").replace("channel", "")
    for path in ("/users", "/users/tokens", "/users/tokens/revoke"):
        assert ben.post(path, data={"name": "x", "role": "admin"}).status_code == 403
    elsewhere = signed_in("ben")
    form = {"present": PASSWORD, "wanted": OTHER, "again": OTHER}
    for wrong, status in (
        ({"present": "wrong"}, 401),
        ({"again": "different one"}, 400),
        ({"wanted": "short", "again": "short"}, 409),
    ):
        assert ben.post("/users/me/password", data={**form, **wrong}).status_code == status
    assert elsewhere.get("/users").status_code == 200
    assert ben.post("/users/me/password", data=form).status_code == 303
    assert ben.get("/users").status_code == 200  # with its new session
    assert elsewhere.get("/users").status_code == 303
    ben.headers["X-CSRF-Token"] = ben.get("/api/v1/session").json()["csrf"]
    assert ben.post("/users/me/sign-out").headers["location"] == "../../login"
    assert ben.get("/users").status_code == 303


def test_names_of_users_are_texts_and_no_markup(signed_in: SignIn) -> None:
    ann = signed_in("ann")
    hostile = "<script>alert(1)</script>"
    form = {"name": hostile, "role": "viewer", "password": OTHER}
    refused = ann.post("/users", data=form)
    assert refused.status_code == 409
    for page in (refused, ann.get("/users", params={"edit": hostile, "revoke": hostile})):
        assert hostile not in page.text

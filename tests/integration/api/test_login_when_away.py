"""Signing in, pages and streams while ZooKeeper is away; wrong passwords at several admins."""

from collections.abc import Callable
from itertools import islice

import httpx
import pytest

from api.access.login.throttle import ATTEMPTS
from api.routers.streams import follower
from api.routers.watch import events
from deploy.embedded import ZooKeeper
from tests.servers.fixtures import FreshName
from tests.support.page_clients import csrf_of, signed_in
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.waiting import wait_until

PASSWORD = "correct horse battery"
SESSION = "/api/v1/session"


def with_ann(admin: httpx.Client) -> str:
    """Add the user ann when ZooKeeper is there; return the admin's address."""
    wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
    tag = admin.get("/api/v1/users").headers["etag"]
    body = {"role": "operator", "password": PASSWORD}
    added = admin.put("/api/v1/users/ann", json=body, headers={"If-Match": tag})
    assert added.status_code in (200, 201), added.text
    return str(admin.base_url)


def test_while_zookeeper_is_away_pages_say_so_and_the_session_counts_again_afterwards(
    new_zookeeper: Callable[..., ZooKeeper],
) -> None:
    server = new_zookeeper(tick_ms=500)
    with (
        admin_client(admin_settings(server.hosts, "roma")) as admin,
        signed_in(with_ann(admin), "ann", PASSWORD) as ann,
    ):
        csrf = csrf_of(ann.get("/users").text)
        server.stop()
        wait_until(lambda: admin.get("/readyz").status_code == 503, "the outage to be noticed")
        form = ann.get("/login")
        assert form.status_code == 200
        assert "continue without signing in" not in form.text
        typed = {"name": "ann", "password": PASSWORD, "next": "/", "csrf": csrf_of(form.text)}
        for answer in (
            ann.post("/login", data=typed),
            ann.get("/"),
            ann.get("/users"),
            ann.post("/logout", data={"csrf": csrf}),
        ):
            assert answer.status_code == 503
            assert "ZOOKEEPER_UNREACHABLE" in answer.text
            assert server.hosts in answer.text
        assert "roma_session" in ann.cookies
        server.start()
        wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin to heal")
        assert ann.get("/users").status_code == 200
        assert ann.post("/logout", data={"csrf": csrf}).status_code == 303
        assert ann.get("/users").status_code in (303, 401)


def test_a_stream_of_events_outlives_an_outage_of_zookeeper_but_not_its_session(
    new_zookeeper: Callable[..., ZooKeeper], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "SILENCE_SECONDS", 0.5)
    monkeypatch.setattr(follower, "_RIGHTS_SECONDS", 0.5)
    server = new_zookeeper(tick_ms=500)
    with (
        admin_client(admin_settings(server.hosts, "roma")) as admin,
        signed_in(with_ann(admin), "ann", PASSWORD) as ann,
        ann.stream("GET", "/api/v1/events") as stream,
    ):
        lines = filter(None, stream.iter_lines())
        server.stop()
        wait_until(lambda: admin.get("/readyz").status_code == 503, "the outage to be noticed")
        assert len(list(islice(lines, 8))) == 8  # several checks later
        server.start()
        wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin to heal")
        assert len(list(islice(lines, 8))) == 8
        csrf = csrf_of(ann.get("/users").text)
        assert ann.post("/logout", data={"csrf": csrf}).status_code == 303
        assert len(list(lines)) < 16


def test_a_stream_without_a_session_ends_with_the_first_user(
    zookeeper: ZooKeeper, fresh_name: FreshName
) -> None:
    with admin_client(admin_settings(zookeeper.hosts, fresh_name("open"))) as admin:
        wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        address = f"{admin.base_url}/api/v1/events"
        with httpx.stream("GET", address, trust_env=False, timeout=60) as stream:
            lines = stream.iter_lines()
            assert next(lines).startswith(": ")
            with_ann(admin)
            assert not [line for line in lines if line.startswith("data: ")]
        refused = httpx.get(address, trust_env=False, timeout=60)
        assert (refused.status_code, refused.json()["code"]) == (401, "TOKEN_MISSING")


def test_each_admin_counts_wrong_passwords_on_its_own(
    zookeeper: ZooKeeper, fresh_name: FreshName
) -> None:
    settings = admin_settings(zookeeper.hosts, fresh_name("brute"))
    with admin_client(settings) as first, admin_client(settings) as second:
        addresses = [with_ann(first), str(second.base_url)]
        wait_until(lambda: second.get("/readyz").status_code == 200, "the second admin")
        answers = [
            httpx.post(
                f"{addresses[number % 2]}{SESSION}",
                json={"name": "ann", "password": f"wrong {number}"},
                trust_env=False,
                timeout=30,
            ).status_code
            for number in range(4 * ATTEMPTS)
        ]
    assert answers == [401] * 2 * ATTEMPTS + [429] * 2 * ATTEMPTS

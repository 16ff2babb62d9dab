"""What every page and every answer of an address must hold, as one table for one admin."""

import re
from collections.abc import Iterator

import httpx
import pytest

from api.access.endpoints import RIGHTS
from deploy.embedded import ZooKeeper
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import TOKEN, admin_client, admin_settings
from tests.support.waiting import wait_until

PASSWORD = "a-password-of-a-source"
PAGES = sorted(
    path
    for method, _, path in (each.partition(" ") for each in RIGHTS)
    if method == "GET" and "{" not in path and not path.startswith(("/api/", "/docs", "/redoc"))
)
_PROGRAMS = {"/healthz", "/readyz", "/metrics", "/openapi.json", "/mappings/export"}
_INLINE = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>\s*\S|\son[a-z]+=\"|<style", re.IGNORECASE)


@pytest.fixture(scope="module")
def admin(zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[httpx.Client]:
    source = {"host": "h", "user": "u", "password": PASSWORD}
    instances = [{"name": "shop", "source": source}]
    settings = admin_settings(zookeeper.hosts, fresh_name("pages"), instances=instances)
    with admin_client(settings) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        yield client


@pytest.mark.parametrize("path", [each for each in PAGES if each not in _PROGRAMS])
def test_a_page_has_the_policy_and_neither_inline_script_nor_secrets(
    admin: httpx.Client, path: str
) -> None:
    injected = {"next": "/\r\nX-Evil: 1", "filter": '"><script>alert(1)</script>'}
    answer = admin.get(path, headers={"Accept": "text/html"}, params=injected)
    assert answer.headers["content-security-policy"].startswith("default-src 'self'")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert "x-evil" not in answer.headers
    assert not _INLINE.search(answer.text)
    assert not [each for each in (TOKEN, PASSWORD, "<script>alert") if each in answer.text]


@pytest.mark.parametrize("path", ["/..%2f..%2fetc/passwd", "/static/..%2f..%2fapp.py", "/%00"])
def test_a_path_that_climbs_is_not_found(admin: httpx.Client, path: str) -> None:
    assert admin.get(path).status_code in (400, 404)


@pytest.mark.parametrize("path", ["/", "/healthz", "/login", "/static/base.css", "/nothing"])
def test_a_foreign_host_is_refused_everywhere(admin: httpx.Client, path: str) -> None:
    answer = admin.get(path, headers={"Host": "evil.example", "Accept": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (421, "HOST_UNKNOWN")

"""Signing in by a real OpenID Connect provider in a real browser."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from deploy.embedded import ZooKeeper
from deploy.embedded.processes.ports import Port
from tests.servers.fixtures import FreshName
from tests.support.browser import LOOKS, Scheme, assert_accessible, assert_fits, opened
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.waiting import wait_until

USERS = (
    {"sub": "1", "preferred_username": "ann", "groups": ["relay-operators"]},
    {"sub": "2", "preferred_username": "eve", "groups": ["others"]},
)


@contextmanager
def provider() -> Iterator[str]:
    """Start oidc-provider-mock as a child process: it knows any client, and checks the flow."""
    reserved = Port()
    port = reserved.number
    claims = [text for each in USERS for text in ("--user-claims", json.dumps(each))]
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), "-n", *claims]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as child:
        url = f"http://127.0.0.1:{port}"
        try:
            wait_until(lambda: answers(url), "the provider to start")
            yield url
        finally:
            child.terminate()
            reserved.release()


def answers(url: str) -> bool:
    try:
        found = httpx.get(f"{url}/.well-known/openid-configuration", trust_env=False, timeout=60)
    except httpx.TransportError:
        return False
    return found.status_code == 200


@pytest.fixture(scope="module")
def admin(zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[str]:
    with provider() as issuer:
        reserved = Port()
        port = reserved.number
        oidc = {
            "issuer": issuer,
            "client_id": "roma",
            "client_secret": "secret",
            "public_url": f"http://127.0.0.1:{port}",
            "title": "Example Inc.",
            "roles": {"relay-operators": "operator"},
        }
        api = {"port": port, "oidc": oidc}
        settings = admin_settings(zookeeper.hosts, fresh_name("oidc"), api=api)
        with admin_client(settings, port) as client:
            wait_until(lambda: client.get("/readyz").status_code == 200, "the admin's ZooKeeper")
            yield str(client.base_url)
        reserved.release()


def sign_in(page: Page, subject: str, following: str = "/servers") -> None:
    page.goto(following)
    page.get_by_role("link", name="Sign in with Example Inc.").click()
    page.locator("input[name=sub]").fill(subject)
    page.get_by_role("button", name="Authorize", exact=True).click()


def test_a_user_signs_in_and_out_under_the_admin_s_policy_and_without_script(
    admin: str, browser: Browser
) -> None:
    with opened(browser, admin, token="", script=False) as page:
        sign_in(page, "1")
        expect(page.get_by_role("link", name="Signed in as ann")).to_be_visible()
        expect(page).to_have_url(f"{admin}/servers")
        secure = [each for each in page.context.cookies(admin) if each["name"] == "roma_session"]
        assert [(each["httpOnly"], each["sameSite"]) for each in secure] == [(True, "Lax")]
        page.goto("/users")
        expect(page.get_by_role("link", name="Change my password")).to_have_count(0)
        page.get_by_role("button", name="Sign out", exact=True).click()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        expect(page.get_by_text("You are signed out here.")).to_be_visible()
        page.goto("/users")
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


@LOOKS
def test_a_user_without_a_role_and_a_replayed_answer_get_a_page_that_says_so(
    admin: str, browser: Browser, width: int, scheme: Scheme
) -> None:
    with opened(browser, admin, token="", width=width, scheme=scheme) as page:
        page.goto("/login")
        assert_accessible(page)
        assert_fits(page)
        sign_in(page, "2")
        expect(page.get_by_role("heading", name="You are not signed in")).to_be_visible()
        expect(page.get_by_role("alert")).to_contain_text("gives the user no role")
        assert_accessible(page)
        assert_fits(page)
        page.reload()
        expect(page.get_by_role("alert")).to_contain_text("no open sign-in")
        page.get_by_role("link", name="Sign in again").click()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()

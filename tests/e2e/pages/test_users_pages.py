"""Signing in and the page of the users in a real browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from deploy.embedded import ZooKeeper
from tests.servers.fixtures import FreshName
from tests.support.browser import (
    LOOKS,
    NARROW,
    WIDE,
    Scheme,
    assert_accessible,
    assert_fits,
    keep_picture,
    opened,
)
from tests.support.relays.admin_server import admin_client, admin_settings, serving
from tests.support.waiting import wait_until

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def admin(zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[str]:
    with admin_client(admin_settings(zookeeper.hosts, fresh_name("users"))) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        for name, role in (("ann", "admin"), ("ben", "viewer")):
            tag = client.get("/api/v1/users").headers["etag"]
            user = {"role": role, "password": PASSWORD}
            client.put(f"/api/v1/users/{name}", json=user, headers={"If-Match": tag})
        client.put("/api/v1/tokens/grafana", json={"owner": "ben", "role": "viewer", "days": 3})
        yield str(client.base_url)


def signed_in(page: Page, name: str = "ann") -> None:
    page.goto("/users")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Users and tokens", exact=True)).to_be_visible()


@LOOKS
def test_both_pages_are_accessible(
    admin: str, browser: Browser, width: int, scheme: Scheme
) -> None:
    with opened(browser, admin, token="", width=width, scheme=scheme) as page:
        page.goto("/login")
        keep_picture(page, f"login-{scheme}")
        assert_accessible(page)
        assert_fits(page)
        signed_in(page)
        keep_picture(page, f"users-{scheme}")
        assert_accessible(page)
        assert_fits(page)
        page.get_by_role("link", name="Change ben").click()
        expect(page.get_by_role("dialog", name="Change ben")).to_be_visible()
        assert_accessible(page)


def test_without_script_a_user_signs_in_after_a_wrong_password_and_out(
    admin: str, browser: Browser
) -> None:
    with opened(browser, admin, token="", script=False) as page:
        page.goto("/login?next=/users")
        page.get_by_label("Name").fill("ben")
        page.get_by_label("Password").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("4 attempts are left")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("Signed in as ben")).to_be_visible()
        page.get_by_role("button", name="Sign out", exact=True).click()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        page.goto("/users")
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_an_administrator_makes_a_user_and_a_token(admin: str, browser: Browser) -> None:
    with opened(browser, admin, token="") as page:
        signed_in(page)
        page.get_by_role("button", name="Add a user").click()
        dialog = page.get_by_role("dialog", name="Add a user")
        dialog.get_by_label("Name").fill("eve")
        dialog.get_by_role("button", name="Add the user").click()
        expect(page.get_by_role("status").first).to_contain_text("The user was added.")
        page.get_by_role("button", name="New token").click()
        dialog = page.get_by_role("dialog", name="New token")
        dialog.get_by_label("Name").fill("ci")
        dialog.get_by_role("button", name="Create the token").click()
        expect(page.get_by_text("It is not shown again")).to_be_visible()


def test_an_administrator_changes_a_user_and_revokes_a_token(admin: str, browser: Browser) -> None:
    with opened(browser, admin, token="") as page:
        signed_in(page)
        page.get_by_role("link", name="Change ben").click()
        dialog = page.get_by_role("dialog", name="Change ben")
        expect(dialog.get_by_role("radio", name="viewer")).to_be_checked()
        dialog.get_by_role("radio", name="operator").check()
        dialog.get_by_label("Comment").fill("on call from today")
        dialog.get_by_role("button", name="Change ben").click()
        expect(page.get_by_role("status").first).to_contain_text("The user was changed.")
        expect(page.locator("tr", has_text="ben").first).to_contain_text("operator")
        page.get_by_role("link", name="Revoke grafana").click()
        dialog = page.get_by_role("dialog", name="Revoke grafana")
        expect(dialog).to_contain_text("A revoked token cannot be restored")
        assert_accessible(page)
        dialog.get_by_role("button", name="Revoke grafana").click()
        expect(page.get_by_role("status").first).to_contain_text("The token was revoked.")
        expect(page.get_by_role("link", name="Revoke grafana")).to_have_count(0)


def test_signing_out_everywhere_ends_the_session_of_another_browser(
    admin: str, browser: Browser
) -> None:
    with (
        opened(browser, admin, token="") as here,
        opened(browser, admin, token="") as there,
    ):
        for page in (here, there):
            signed_in(page)
        here.get_by_role("button", name="Sign out everywhere").click()
        expect(here.get_by_role("heading", name="Sign in")).to_be_visible()
        there.goto("/users")
        expect(there.get_by_role("heading", name="Sign in")).to_be_visible()


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_long_name_of_an_installation_is_shown_whole(
    zookeeper: ZooKeeper, fresh_name: FreshName, browser: Browser, width: int
) -> None:
    name = fresh_name("warehouse-of-the-northern-region-and-its-branches")
    settings = admin_settings(zookeeper.hosts, name)
    with (
        admin_client(settings) as client,
        opened(browser, str(client.base_url), width=width) as page,
    ):
        page.goto("/users")
        shown = page.locator(".env:visible", has_text=name)
        expect(shown).to_have_count(1)
        is_whole = "each => each.scrollWidth <= each.clientWidth"
        assert shown.evaluate(is_whole)
        assert page.locator(".side, .top").evaluate_all(f"all => all.every({is_whole})")
        assert_fits(page)


def test_the_link_of_the_first_start_makes_an_administrator_in_the_browser(
    zookeeper: ZooKeeper, fresh_name: FreshName, browser: Browser
) -> None:
    settings = admin_settings(zookeeper.hosts, fresh_name("first"), api={"port": 0})
    with serving(settings) as server:
        code = server.admin.access.first_admin.offer()
        with opened(browser, server.url, token="") as page:
            ready = f"{server.url}/readyz"
            wait_until(
                lambda: page.request.get(ready).status == 200, "the admin to reach ZooKeeper"
            )
            page.goto(f"/first-admin?code={code}")
            page.get_by_label("Name").fill("ann")
            for field in page.locator("input[type=password]").all():
                field.fill(PASSWORD)
            assert_accessible(page)
            page.locator("button[type=submit]").click()
            expect(page.get_by_role("link", name="Signed in as ann")).to_be_visible()
            page.goto(f"/first-admin?code={code}")
            expect(page.get_by_text("The link is not valid")).to_be_visible()

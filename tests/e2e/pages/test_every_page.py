"""Every page of the admin in a real browser: accessible in both schemes, and fit for two widths.

The pages are those of the table of rights: a new one that is in neither table below fails here.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from api.access.endpoints import RIGHTS
from api.services.failover_desk import FailoverDesk
from api.services.mappings.mapping_archive import MappingArchive
from api.services.mappings.unmapped import UnmappedTables
from api.services.placement_desk import PlacementDesk
from deploy.embedded import Kafka, ZooKeeper
from relay.audit import AuditTrail
from relay.dead_letters import DeadLetterTopic
from relay.errors import BrokerUnreachable
from tests.servers.fixtures import FreshName
from tests.support.browser import (
    NARROW,
    SCHEMES,
    WIDE,
    assert_accessible,
    assert_contrast,
    assert_fits,
    keep_picture,
    opened,
    resize,
)
from tests.support.relays.kept_back import LETTER
from tests.support.relays.whole_admin import PASSWORD, whole_admin

PAGES: Final[Mapping[str, tuple[str, str]]] = {
    "/": ("/", "Overview"),
    "/audit": ("/audit", "Audit"),
    "/backup": ("/backup", "Backup"),
    "/dead-letters": ("/dead-letters", "Dead letters"),
    "/dead-letters/{instance}/{letter}": (f"/dead-letters/shop-a/{LETTER}", "shop.client"),
    "/erase": ("/erase", "Erase a person"),
    "/failover": ("/failover?instance=shop-a", "Failover"),
    "/first-admin": ("/first-admin?code=used", "This link is not valid"),
    "/instance-settings": ("/instance-settings?name=late", "Settings of late"),
    "/instances/{name}": ("/instances/shop-a", "shop-a"),
    "/instances/{name}/copies": ("/instances/shop-a/copies", "Table copies of shop-a"),
    "/instances/{name}/position": ("/instances/shop-a/position", "Position of shop-a"),
    "/instances/{name}/preflight": ("/instances/shop-a/preflight", "Preflight of shop-a"),
    "/instances/{name}/repair": ("/instances/shop-a/repair", "Repair rows of shop-a"),
    "/instances/{name}/reposition": ("/instances/shop-a/reposition", "Reposition shop-a"),
    "/instances/{name}/retire": ("/instances/shop-a/retire", "Retire shop-a"),
    "/instances/{name}/topics": ("/instances/shop-a/topics", "Topics of shop-a"),
    "/login": ("/login", "Sign in"),
    "/mappings": ("/mappings", "Mappings"),
    "/mappings/edit": ("/mappings/edit", "Mappings"),
    "/mappings/history": ("/mappings/history", "Mappings"),
    "/mappings/unmapped": ("/mappings/unmapped", "Mappings"),
    "/peek": ("/peek?table=shop.client", "Peek"),
    "/routes": ("/routes?q=shop_01.user", "Route finder"),
    "/servers": ("/servers", "Servers"),
    "/servers/{server}/maintenance": ("/servers/s1/maintenance", "Drain s1"),
    "/users": ("/users", "Users and tokens"),
}
"""Template of the route → address and heading."""
NO_PAGES: Final = {
    *("/healthz", "/metrics", "/readyz", "/openapi.json"),  # for programs
    *("/docs", "/redoc"),  # pages of Swagger UI and ReDoc
    "/mappings/export",  # a file
    *("/login/oidc", "/login/oidc/callback"),  # lead on; test_provider_pages has the refusal
}
STATES: Final = {
    "needs-you": ("/instances/crm", "crm"),
    "add-an-instance": ("/instance-settings", "Add an instance"),
    "settings-of-the-file": ("/instance-settings?name=crm", "Settings of crm"),
    "nothing-found": ("/routes?q=nothing.there", "Route finder"),
    "unknown-instance": ("/instances/none", "This does not exist"),
}
"""Further states of these pages."""
READS: Final[Mapping[str, tuple[type, str]]] = {
    "/failover": (FailoverDesk, "every"),
    "/servers": (PlacementDesk, "placement"),
    "/mappings": (MappingArchive, "active"),
    "/mappings/unmapped": (UnmappedTables, "listed"),
    "/audit": (AuditTrail, "checked_entries"),
    "/dead-letters": (DeadLetterTopic, "letters"),
}
"""Page → what it reads from a server."""


@pytest.fixture(scope="module")
def admin(kafka: Kafka, zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[str]:
    with whole_admin(zookeeper.hosts, kafka.bootstrap, fresh_name("every")) as client:
        yield str(client.base_url)


@pytest.fixture(scope="module")
def page(admin: str, browser: Browser) -> Iterator[Page]:
    with opened(browser, admin) as page:
        yield page


def test_the_tables_have_every_page() -> None:
    paths = {each.removeprefix("GET ") for each in RIGHTS if each.startswith("GET ")}
    assert {each for each in paths if not each.startswith("/api/")} == {*PAGES, *NO_PAGES}


@pytest.mark.parametrize("name", [*PAGES, *STATES])
def test_a_page_is_accessible_and_fits(page: Page, name: str) -> None:
    path, heading = {**PAGES, **STATES}[name]
    resize(page, WIDE, "light")
    page.goto(path)
    expect(page.get_by_role("heading", name=heading, exact=True).first).to_be_visible()
    picture = name.strip("/").replace("/", "-").replace("{", "").replace("}", "") or "overview"
    assert_good(page, picture)


@pytest.mark.parametrize("path", READS)
def test_a_page_whose_server_does_not_answer_is_accessible(
    page: Page, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise BrokerUnreachable("No broker answers at kafka-1:9092.")

    resize(page, WIDE, "light")
    page.goto(path)
    monkeypatch.setattr(*READS[path], away)
    page.goto(path)
    expect(page.get_by_role("heading", name="Kafka does not answer")).to_be_visible()
    expect(page.get_by_text("No broker answers at kafka-1:9092.")).to_be_visible()
    expect(page.get_by_text("What to do:").first).to_be_visible()
    assert_good(page, f"away-{path.strip('/').replace('/', '-')}")


def assert_good(page: Page, picture: str) -> None:
    """Assert that the page, as it is now, is accessible in both schemes and fits both widths."""
    for width in (WIDE, NARROW):
        for scheme in SCHEMES:
            resize(page, width, scheme)
            keep_picture(page, f"{picture}-{scheme}")
            assert_contrast(page) if scheme == "dark" else assert_accessible(page)
        assert_fits(page)


def test_preflight_lists_findings_with_remedies(page: Page) -> None:
    page.goto("/instances/shop-a/preflight")
    page.get_by_role("button", name="Check now").click()
    expect(page.get_by_role("heading", name="Checks that need attention")).to_be_visible()
    expect(page.get_by_text("shop-a cannot run as configured")).to_be_visible()
    expect(page.get_by_text("What to do:").first).to_be_visible()
    assert_good(page, "preflight")


def test_rows_are_published_again_after_a_preview(page: Page) -> None:
    page.goto("/instances/shop-a/copies")
    page.get_by_role("link", name="Repair rows").click()
    page.get_by_label("Table", exact=True).fill("shop.client")
    page.get_by_label("Keys, one per line").fill("7\n8")
    page.get_by_role("button", name="Show what will happen").click()
    expect(page.get_by_text("reads the present rows of 2 keys")).to_be_visible()
    assert_good(page, "repair")
    page.get_by_role("button", name="Publish these rows again").click()
    expect(
        page.get_by_text("The repair is requested. It begins when earlier requests are done.")
    ).to_be_visible()
    expect(page.locator("#copies-list")).to_contain_text("rows of 2 keys")


def test_a_backup_is_downloaded_and_compared(page: Page, tmp_path: Path) -> None:
    page.goto("/backup")
    page.get_by_label("Passphrase", exact=True).fill(PASSWORD)
    page.get_by_label("Repeat the passphrase").fill(PASSWORD)
    with page.expect_download() as started:
        page.get_by_role("button", name="Download a backup").click()
    file = tmp_path / "backup.json"
    started.value.save_as(file)
    client = page.request.put(
        "/api/v1/placement/maintenance/s2", headers={"X-Comment": "after the backup"}
    )
    assert client.ok
    page.get_by_label("Or choose the file").set_input_files(file)
    expect(page.get_by_label("Contents of the file")).to_have_value(file.read_text())
    page.get_by_label("Passphrase of the backup").fill(PASSWORD)
    page.get_by_role("button", name="Show what will happen").click()
    expect(page.get_by_role("heading", name="What will happen")).to_be_visible()
    expect(page.locator("#confirm")).to_contain_text("not in the backup, and kept: 1.")
    assert_good(page, "backup")

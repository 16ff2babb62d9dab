"""The frame of the admin's pages: relative addresses, headers, errors as pages, vendored files."""

import hashlib
import re
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest

from api.access import ANONYMOUS
from api.access.endpoints import RIGHTS
from api.web.install import STATIC
from api.web.page import Page, document_path
from api.web.sections import GROUPS, MORE, TABS
from api.web.words import clock, counted, duration, number, sentence, size
from tests.support.relays.admin_server import admin_client, admin_settings

HTML = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture(scope="module")
def admin() -> Iterator[httpx.Client]:
    with admin_client(admin_settings("127.0.0.1:1", "none")) as client:
        yield client


def page_at(path: str) -> Page:
    return Page(path=path, here=path, section="", installation="prod", caller=ANONYMOUS)


@pytest.mark.parametrize(
    ("path", "target", "relative"),
    [
        ("/", "/", "./"),
        ("/", "/mappings", "./mappings"),
        ("/mappings", "/static/base.css", "./static/base.css"),
        ("/instances/shop", "/", "../"),
        ("/dead-letters/shop/7", "/users", "../../users"),
    ],
)
def test_an_address_is_relative_to_the_page(path: str, target: str, relative: str) -> None:
    assert page_at(path).at(target) == relative


def test_a_csrf_value_cannot_leave_its_attribute() -> None:
    page = Page(
        path="/", here="/", section="", installation="", caller=ANONYMOUS, csrf='"><script>'
    )
    assert "<script>" not in page.csrf_field


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "\N{EN DASH}"),
        (0.42, "0.4 s"),
        (42.0, "42 s"),
        (59.96, "60 s"),
        (2280.0, "38 min"),
        (8280.0, "2 h 18 min"),
        (7200.0, "2 h"),
        (93600.0, "1 d 2 h"),
    ],
)
def test_a_duration_has_at_most_two_units(value: float | None, text: str) -> None:
    assert duration(value) == text


def test_numbers_sizes_and_moments_are_written_for_people() -> None:
    assert [number(12480), number(0.0), number(0.25), number(None)] == [
        "12,480",
        "0",
        "0.2",
        "\N{EN DASH}",
    ]
    assert [size(999), size(8_600_000_000), size(None)] == ["999 bytes", "8.6 GB", "\N{EN DASH}"]
    assert clock(1_767_225_600_000) == "1 Jan, 00:00:00 UTC"
    assert sentence("no relay") == "No relay"
    assert sentence("it is gone.") == "It is gone."
    assert sentence("shop.orders is gone.") == "shop.orders is gone."
    assert sentence("ads-3: no source") == "ads-3: no source"
    assert sentence("shop has read no table.", {"shop"}) == "shop has read no table."
    assert [counted(1, "row"), counted(2000, "row")] == ["1 row", "2,000 rows"]


def test_a_browser_gets_an_error_as_a_page(admin: httpx.Client) -> None:
    answer = admin.get("/", headers=HTML)
    assert answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert answer.headers["content-type"].startswith("text/html")
    assert "ZOOKEEPER_UNREACHABLE" in answer.text
    assert answer.headers["retry-after"] == "5"


def test_a_program_gets_problem_json(admin: httpx.Client) -> None:
    for path, headers in (("/", {"Accept": "*/*"}), ("/api/v1/instances", HTML)):
        answer = admin.get(path, headers=headers)
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"] == "ZOOKEEPER_UNREACHABLE"


def test_a_page_that_is_not_there_is_a_page_with_the_code(admin: httpx.Client) -> None:
    answer = admin.get("/nowhere", headers=HTML)
    assert answer.status_code == HTTPStatus.NOT_FOUND
    assert "NOT_FOUND" in answer.text


def test_a_page_carries_its_headers_and_no_inline_code(admin: httpx.Client) -> None:
    answer = admin.get("/nowhere", headers=HTML)
    assert answer.headers["content-security-policy"].startswith("default-src 'self'; ")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert not re.search(r"<script(?![^>]*\bsrc=)", answer.text)
    assert not re.search(r"\son[a-z]+=|\sstyle=", answer.text)


def test_every_file_that_a_page_names_is_served(admin: httpx.Client) -> None:
    answer = admin.get("/nowhere", headers=HTML)
    named = re.findall(r'(?:src|href)="\./(static/[^"]+)"', answer.text)
    assert len(named) >= 7
    for each in named:
        assert admin.get(f"/{each}").status_code == HTTPStatus.OK, each


def test_every_entry_of_the_navigation_leads_to_a_page() -> None:
    listed = [each for _, entries in GROUPS for each in entries]
    assert {f"GET {each.path}" for each in listed} <= set(RIGHTS)
    assert sorted((*TABS, *MORE), key=str) == sorted(listed, key=str)


def test_no_template_has_inline_code() -> None:
    folder = STATIC.parent / "templates"
    for template in folder.rglob("*.html"):
        text = template.read_text(encoding="utf-8")
        assert not re.search(r"\sstyle=|\son[a-z]+=|<script(?![^>]*\bsrc=)", text), template


def test_files_of_other_projects_are_those_that_their_list_names() -> None:
    folder = STATIC / "vendor"
    listed = dict(
        re.findall(
            r"^\| (\S+) \|.*\| ([0-9a-f]{64}) \|$", Path(folder, "README.md").read_text(), re.M
        )
    )
    found = {
        each.name: hashlib.sha256(each.read_bytes()).hexdigest()
        for each in folder.iterdir()
        if each.suffix not in {".md", ".LICENSE"}
    }
    assert found == listed


@pytest.mark.parametrize(
    ("path", "shown_url", "from_path"),
    [
        ("/instances/shop/copies", "", "/instances/shop/copies"),
        ("/instances/shop/copies", "https://h/instances/shop", "/instances/shop"),
        ("/instances/shop/copies", "https://h/roma/instances/shop?range=1h", "/instances/shop"),
        ("/instances/shop/copies", "https://h/instances/shop/copies", "/instances/shop/copies"),
        (
            "/instances/shop/copies",
            "https://h/roma/instances/shop/copies/preview",
            "/instances/shop/copies/preview",
        ),
        ("/instances/instances", "https://h/instances/instances", "/instances/instances"),
        ("/", "https://h/roma/", "/"),
        ("/", "https://h/", "/"),
        ("/servers", "https://h/other/page", "/servers"),
    ],
)
def test_links_of_a_part_start_from_the_page_that_shows_it(
    path: str, shown_url: str, from_path: str
) -> None:
    assert document_path(path, shown_url) == from_path

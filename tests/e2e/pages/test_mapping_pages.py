"""The pages of the mappings in a real browser."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from deploy.embedded import ZooKeeper
from relay.route import TAGS, TBS, TOPICS
from tests.servers.fixtures import FreshName
from tests.support.browser import (
    NARROW,
    WIDE,
    Scheme,
    assert_accessible,
    assert_fits,
    keep_picture,
    opened,
)
from tests.support.relays.mapped_admin import mapped_admin


@pytest.fixture(scope="module")
def admin(zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[httpx.Client]:
    with mapped_admin(zookeeper.hosts, fresh_name("mappings")) as client:
        yield client


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "dark"), (NARROW, "light")])
def test_the_editor_marks_a_broken_line_while_it_is_typed(
    admin: httpx.Client, browser: Browser, width: int, scheme: Scheme
) -> None:
    with opened(browser, str(admin.base_url), width=width, scheme=scheme) as page:
        page.goto("/mappings/edit#tbs")
        text = page.get_by_role("textbox", name="com.pajk.Roma.tbs")
        text.fill('[\n  {"logicTb": "a", "realTbs": "x"},\n  {"logicTb": "b" "realTbs": "y"}\n]')
        expect(page.locator("#tbs .gutter .bad")).to_have_text("3")
        expect(page.get_by_text("Not JSON")).to_be_visible()
        text.fill(
            '[\n  {"logicTb": "a", "realTbs": "x"},\n\n  {"logicTb": "b", "realTbs": "/(/"}\n]'
        )
        expect(page.locator("#tbs .gutter .bad")).to_have_text("4")
        page.get_by_role("link", name="dbs").click()
        page.get_by_role("link", name="Line 4").click()
        expect(text).to_be_focused()
        assert text.evaluate(
            "each => each.value.slice(each.selectionStart, each.selectionEnd)"
        ) == ('"/(/"}')
        assert_accessible(page)
        assert_fits(page)


def test_a_document_on_one_line_is_seen_whole(admin: httpx.Client, browser: Browser) -> None:
    with opened(browser, str(admin.base_url)) as page:
        page.goto("/mappings/edit#dbs")
        text = page.get_by_role("textbox", name="com.pajk.Roma.dbs")
        text.fill(json.dumps([{"logicDb": f"a{n}", "realDbs": f"shop_{n}"} for n in range(60)]))
        is_whole = "each => each.scrollWidth <= each.clientWidth && each.scrollHeight <= {}"
        assert text.evaluate(is_whole.format("each.clientHeight"))
        page.get_by_role("button", name="Format").click()
        expect(page.locator("#dbs .gutter span")).to_have_count(63)


def test_two_editors_lose_nothing(admin: httpx.Client, browser: Browser) -> None:
    with (
        opened(browser, str(admin.base_url)) as one,
        opened(browser, str(admin.base_url)) as two,
    ):
        for page in (one, two):
            page.goto("/mappings/edit#topics")
        documents = json.loads(
            one.get_by_role("textbox", name="com.pajk.Roma.topics").input_value()
        )
        documents[0]["topic"] = "shop-2"
        one.get_by_role("textbox", name="com.pajk.Roma.topics").fill(json.dumps(documents))
        two.get_by_role("link", name="tbs").click()
        two.get_by_role("textbox", name="com.pajk.Roma.tbs").fill(
            '[{"logicTb": "client", "realTbs": "user,buyer"}]'
        )
        for page in (one, two):
            page.get_by_role("button", name="Show what changes").click()
            expect(page.get_by_role("heading", name="What saving would change")).to_be_visible()
            assert_accessible(page)
            page.get_by_label("Comment").fill("two editors")
        one.get_by_role("button", name="Save set").click()
        expect(one.get_by_text("The set is saved.")).to_be_visible()
        two.get_by_role("button", name="Save set").click()
        expect(two.get_by_role("alert")).to_contain_text("while you were editing")
        assert_accessible(two)
        two.get_by_role("button", name="Apply my edit").click()
        expect(two.get_by_role("alert")).to_contain_text("No entry was changed in both edits")
        two.get_by_role("button", name="Show what changes").click()
        two.get_by_label("Comment").fill("on top")
        two.get_by_role("button", name="Save set").click()
        expect(two.get_by_text("The set is saved.")).to_be_visible()
    now = admin.get("/api/v1/configs/ROMA_GROUP").json()
    assert now[TOPICS] == documents
    assert now[TBS] == [{"logicTb": "client", "realTbs": "user,buyer"}]


def test_all_four_documents_are_exported_and_imported_as_one_file(
    admin: httpx.Client, browser: Browser, tmp_path: Path
) -> None:
    with opened(browser, str(admin.base_url)) as page:
        page.goto("/mappings/edit")
        page.get_by_text("Export and import all four documents").click()
        with page.expect_download() as started:
            page.get_by_role("link", name="Download the active set").click()
        exported = json.loads(started.value.path().read_text())
        assert exported == admin.get("/api/v1/configs/ROMA_GROUP").json()
        exported[TAGS] = [{"logicTb": "client", "tag": "imported"}]
        file = tmp_path / "mappings.json"
        file.write_text(json.dumps(exported))
        page.get_by_label("Or choose the file").set_input_files(file)
        expect(page.get_by_label("Contents of the file")).to_have_value(file.read_text())
        page.get_by_role("button", name="Load into the editor").click()
        expect(page.locator("#findings")).to_contain_text("imported")
        page.get_by_role("button", name="Show what changes").click()
        page.get_by_label("Comment").fill("imported")
        page.get_by_role("button", name="Save set").click()
        expect(page.get_by_text("The set is saved.")).to_be_visible()
    assert admin.get("/api/v1/configs/ROMA_GROUP").json()[TAGS] == exported[TAGS]


def test_without_script_all_four_documents_can_be_edited(
    admin: httpx.Client, browser: Browser
) -> None:
    with opened(browser, str(admin.base_url), script=False) as page:
        page.goto("/mappings/edit")
        page.get_by_role("textbox", name="com.pajk.Roma.tags").fill("[{}]")
        page.get_by_role("button", name="Check").click()
        expect(page.get_by_role("link", name="Line 1").first).to_be_visible()


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_history_unmapped_tables_and_routes_are_accessible(
    admin: httpx.Client, browser: Browser, width: int, scheme: Scheme
) -> None:
    assert admin.put("/api/v1/unmapped/hidden?table=crm._lead_gho").status_code == 204
    with opened(browser, str(admin.base_url), width=width, scheme=scheme) as page:
        for path, heading in (
            ("/mappings/history?rollback=1", "Sets"),
            ("/mappings/unmapped?hidden=1", "Hidden tables"),
            ("/routes?q=topic:crm", "Logical tables found"),
        ):
            page.goto(path)
            expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
            keep_picture(page, path.partition("?")[0].strip("/").replace("/", "-"))
            assert_accessible(page)
            assert_fits(page)


def test_the_search_box_leads_to_the_finder(admin: httpx.Client, browser: Browser) -> None:
    with opened(browser, str(admin.base_url)) as page:
        page.goto("/mappings")
        page.keyboard.press("/")
        page.keyboard.type("shop_01.orders_01")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Where shop_01.orders_01 goes")).to_be_visible()

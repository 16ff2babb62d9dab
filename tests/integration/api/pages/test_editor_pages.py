"""Editing mappings on the page: checks, dry runs, saves, two editors; a real ZooKeeper."""

import html
import json
import re
from collections.abc import Iterator
from time import time

import httpx
import pytest

from deploy.embedded import ZooKeeper
from relay.route import DATA_IDS, DBS, TBS, TOPICS
from relay.state import InstanceStatus, InstanceStore, Membership, Paths, RelayMember
from tests.servers.fixtures import FreshName
from tests.support.relays.mapped_admin import DOCUMENTS, GROUP, mapped_admin, save
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

_AREA = re.compile(r'<textarea[^>]* name="(\w+)"[^>]*>\n(.*?)</textarea>', re.DOTALL)


@pytest.fixture
def admin(zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[httpx.Client]:
    with mapped_admin(zookeeper.hosts, fresh_name("editor")) as client:
        yield client


def fields(page: httpx.Response) -> dict[str, str]:
    """Return the form's documents and base, with the line breaks that browsers send."""
    found = {name: html.unescape(text) for name, text in _AREA.findall(page.text)}
    base = re.search(r'name="base" value="(\d+)"', page.text)
    assert base is not None, page.text
    texts = {name: text.replace("\n", "\r\n") for name, text in found.items() if name != "file"}
    return {"base": base.group(1), **texts}


def with_topic(form: dict[str, str], topic: str) -> dict[str, str]:
    return {**form, "topics": form["topics"].replace('"topic": "crm"', f'"topic": "{topic}"')}


def test_the_editor_shows_the_active_documents(admin: httpx.Client) -> None:
    form = fields(admin.get("/mappings/edit"))
    assert json.loads(form["tbs"]) == DOCUMENTS[TBS]
    checked = admin.post("/mappings/edit", data=form)
    assert (checked.status_code, "No problems" in checked.text) == (200, True)
    assert "Nothing is changed." in checked.text


def test_a_broken_document_is_refused_at_its_line(admin: httpx.Client) -> None:
    form = fields(admin.get("/mappings/edit"))
    broken = {**form, "dbs": form["dbs"].replace('"crm", "realDbs"', '"new", "realDbs"')}
    for path, status in (("edit", 200), ("dry-run", 200), ("save", 422)):
        answer = admin.post(f"/mappings/{path}", data={**broken, "comment": "x"})
        assert answer.status_code == status
        assert 'href="#dbs" data-line="3" data-column="15"><b>Line 3</b>' in answer.text
        assert fields(answer)["dbs"] == broken["dbs"], "what was typed stays"
    assert admin.get(GROUP).headers["etag"] == '"1"'


def test_a_dry_run_counts_and_a_save_needs_a_comment(admin: httpx.Client) -> None:
    form = with_topic(fields(admin.get("/mappings/edit")), "people")
    trial = admin.post("/mappings/dry-run", data=form)
    assert trial.status_code == 200
    assert re.search(r"Move to another topic</dt><dd>\d+ ", trial.text)
    assert "Consumers must read the new topic" in trial.text
    assert "Save set 2" in trial.text
    without = admin.post("/mappings/save", data={**fields(trial), "comment": " "})
    assert (without.status_code, "Write the reason" in without.text) == (422, True)
    assert admin.get(GROUP).headers["etag"] == '"1"'
    saved = admin.post("/mappings/save", data={**fields(trial), "comment": "crm to people"})
    assert (saved.status_code, saved.headers["location"]) == (
        303,
        "../mappings?done=mapping-saved",
    )
    newest = admin.get("/api/v1/mappings/sets").json()[0]
    assert (newest["set"], newest["comment"], newest["documents"][DBS]) == (2, "crm to people", 1)


def test_a_second_editor_keeps_the_text_and_applies_it(admin: httpx.Client) -> None:
    form = with_topic(fields(admin.get("/mappings/edit")), "people")
    theirs = {**DOCUMENTS, TBS: [*DOCUMENTS[TBS], {"logicTb": "cart", "realTbs": "cart_1"}]}
    save(admin, theirs, comment="carts", base=1)
    for path in ("dry-run", "save"):
        refused = admin.post(f"/mappings/{path}", data={**form, "comment": "mine"})
        assert refused.status_code == 412
        assert "ann saved set 2 while you were editing set 1" in refused.text
        assert "carts" in refused.text
        assert fields(refused) == form
    applied = admin.post("/mappings/apply", data=fields(refused))
    assert "No entry was changed in both edits" in applied.text
    trial = admin.post("/mappings/dry-run", data=fields(applied))
    assert admin.post("/mappings/save", data={**fields(trial), "comment": "b"}).status_code == 303
    now = admin.get(GROUP).json()
    assert now[TBS] == theirs[TBS]
    assert now[TOPICS][1]["topic"] == "people"


def test_an_entry_that_both_changed_is_told_and_kept_as_theirs(admin: httpx.Client) -> None:
    form = with_topic(fields(admin.get("/mappings/edit")), "mine")
    topics = [DOCUMENTS[TOPICS][0], {"logicDb": "crm", "topic": "theirs"}]
    save(admin, {**DOCUMENTS, TOPICS: topics}, comment="t", base=1)
    applied = admin.post("/mappings/apply", data=form)
    assert "1 entry was changed in both edits" in applied.text
    assert html.escape('{"logicDb": "crm", "topic": "mine"}') in applied.text.replace(
        "&#34;", "&quot;"
    )
    assert json.loads(fields(applied)["topics"]) == topics


def test_a_document_without_text_is_removed_by_the_save(admin: httpx.Client) -> None:
    form = {**fields(admin.get("/mappings/edit")), "tags": "", "comment": "no tags"}
    assert admin.post("/mappings/save", data=form).status_code == 303
    assert len(admin.get(GROUP).json()) == 3


def test_a_file_is_exported_and_imported_into_the_editor(admin: httpx.Client) -> None:
    file = admin.get("/mappings/export")
    assert file.headers["content-disposition"] == 'attachment; filename="mappings-1.json"'
    assert file.json() == DOCUMENTS
    edited = file.text.replace('"crm", "topic": "crm"', '"crm", "topic": "people"')
    shown = admin.post("/mappings/import", data={"file": edited})
    assert json.loads(fields(shown)["topics"])[1]["topic"] == "people"
    assert admin.get(GROUP).headers["etag"] == '"1"', "nothing is saved by an import"
    for file_text in ("{", '{"com.pajk.Roma.other": []}'):
        assert admin.post("/mappings/import", data={"file": file_text}).status_code == 400
    assert len(DATA_IDS) == len(file.json())


def test_a_table_that_is_not_mapped_gets_a_proposed_entry(admin: httpx.Client) -> None:
    page = admin.get("/mappings/edit", params={"table": "metrics.sample"})
    assert "No problems" in page.text
    assert {"logicDb": "metrics", "realDbs": "metrics"} in json.loads(fields(page)["dbs"])


def test_the_editor_opens_the_document_with_the_proposed_entry(admin: httpx.Client) -> None:
    assert 'data-first="dbs"' in admin.get("/mappings/edit").text
    assert 'data-first="tbs"' in admin.get("/mappings/edit?table=shop_01.fresh").text


def test_a_reader_sees_the_documents_and_cannot_save(admin: httpx.Client) -> None:
    stranger = {"Authorization": ""}
    page = admin.get("/mappings/edit", headers=stranger)
    assert (page.status_code, "requires the right edit" in page.text) == (200, True)
    form = {**fields(page), "comment": "x"}
    assert admin.post("/mappings/dry-run", data=form, headers=stranger).status_code == 200
    for path in ("save", "apply", "edit", "import"):
        assert admin.post(f"/mappings/{path}", data=form, headers=stranger).status_code == 401


def test_a_dry_run_says_how_many_rows_a_second_a_change_concerns(
    zookeeper: ZooKeeper, fresh_name: FreshName
) -> None:
    name = fresh_name("load")
    start_ms = int(time() * 1000)
    moved = {**DOCUMENTS, TOPICS: [DOCUMENTS[TOPICS][0], {"logicDb": "crm", "topic": "people"}]}
    with mapped_admin(zookeeper.hosts, name) as client, session_with(zookeeper.hosts) as session:
        paths = Paths(f"/roma/{name}")
        Membership(session, paths).announce(RelayMember("r1", server="s1", instances=("crm",)))

        def concerned(rates: dict[str, float] | None = None) -> dict[str, object]:
            elapsed_ms = int(time() * 1000) - start_ms
            status = InstanceStatus(
                "crm",
                "RUNNING",
                relay="r1",
                published_rows=2 * elapsed_ms,
                updated_ms=start_ms + elapsed_ms,
                table_rates=rates,
            )
            InstanceStore(session, paths).put_status(status)
            client.get("/api/v1/needs-you")  # reads the status
            changes = client.post("/api/v1/mappings/dry-run", json=moved).json()["changes"]
            found: dict[str, object] = next(each for each in changes if each["kind"] == "moved")
            return found

        wait_until(lambda: concerned()["rows_per_second"] is not None, "a rate to be known")
        change = concerned()
        assert change["met_by"] == ["crm"]
        assert change["rows_per_second"] == pytest.approx(2000, rel=0.02)
        form = with_topic(fields(client.get("/mappings/edit")), "people")
        text = client.post("/mappings/dry-run", data=form).text
        assert re.search(r"At most [\d,]+ rows/s: what crm publishes now, other tables", text)
        rates = {"crm.lead": 7.25, "crm.elsewhere": 1000.0}
        wait_until(
            lambda: concerned(rates)["rows_per_second"] == 7.25, "the rate of the table alone"
        )
        assert concerned(rates)["rows_per_second_is_bound"] is False
        text = client.post("/mappings/dry-run", data=form).text
        assert "7.2 rows/s: what crm publishes of these tables." in text
        told = client.get("/api/v1/instances/crm/rates").json()
        assert told[0] == {"table": "crm.elsewhere", "rows_per_second": 1000.0}
        page = client.get("/instances/crm").text
        assert "crm.lead" in page
        assert "1,000" in page

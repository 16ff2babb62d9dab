"""Over HTTP there is what the mapping, overview and peek pages show."""

import json
from collections.abc import Iterator

import httpx
import pytest

from deploy.embedded import ZooKeeper
from relay.route import DBS, TBS
from relay.state import InstanceStatus, InstanceStore, Paths
from tests.servers.fixtures import FreshName
from tests.support.relays.mapped_admin import DOCUMENTS, mapped_admin
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

STOPPED = InstanceStatus(
    "crm", "STOPPED", "UNMAPPED_NAME", "No table mapping lists crm.deal.", "add it.", "r-gone"
)


@pytest.fixture(scope="module")
def admin(zookeeper: ZooKeeper, fresh_name: FreshName) -> Iterator[httpx.Client]:
    name = fresh_name("beside-pages")
    with session_with(zookeeper.hosts) as session:
        store = InstanceStore(session, Paths(f"/roma/{name}"))
        store.put_status(STOPPED)
        store.put_status(InstanceStatus("shop-a", "RUNNING", relay="r-gone"))
    with mapped_admin(zookeeper.hosts, name) as client:
        yield client


def texts(**changed: object) -> dict[str, str]:
    return {data_id: json.dumps(each) for data_id, each in {**DOCUMENTS, **changed}.items()}


def test_an_edit_is_applied_to_a_newer_set(admin: httpx.Client) -> None:
    more = [*DOCUMENTS[DBS], {"logicDb": "ads", "realDbs": "ads_01"}]
    edit = {"base": 1, "documents": texts(**{DBS: more})}
    merged = admin.post("/api/v1/mappings/merge", json=edit).json()
    assert (merged["base"], merged["clashes"], merged["unread"]) == (1, [], [])
    assert json.loads(merged["documents"][DBS])[-1]["logicDb"] == "ads"
    broken = {"base": 1, "documents": {DBS: "[" * 100_000, TBS: '[{"logicTb": "\\ud800"}]'}}
    answer = admin.post("/api/v1/mappings/merge", json=broken)
    assert answer.status_code == 200, answer.text
    unknown = admin.post("/api/v1/mappings/merge", json={**edit, "base": 99})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "NODE_MISSING")


def test_a_missing_table_gets_a_proposed_entry(admin: httpx.Client) -> None:
    found = admin.get("/api/v1/mappings/proposal", params={"table": "metrics.sample"}).json()
    assert found["base"] == 1
    assert {"logicTb": "sample", "realTbs": "metrics.sample"} in json.loads(found["documents"][TBS])
    assert admin.get("/api/v1/mappings/sets").json()[0]["set"] == 1, "nothing is saved"


def test_a_roll_back_is_foretold(admin: httpx.Client) -> None:
    trial = admin.post("/api/v1/mappings/rollback/preview", json={"set": 1}).json()
    assert (trial["base"], trial["acceptable"], trial["changes"]) == (1, True, [])
    missing = admin.post("/api/v1/mappings/rollback/preview", json={"set": 99})
    assert missing.status_code == 404


def test_instances_have_what_the_overview_shows(admin: httpx.Client) -> None:
    def listed() -> dict[str, dict[str, object]]:
        return {each["name"]: each for each in admin.get("/api/v1/instances").json()}

    wait_until(lambda: listed()["crm"]["since_ms"] is not None, "the watch to see the instance")
    crm, shop = listed()["crm"], listed()["shop-a"]
    assert (crm["present_state"], crm["unmapped"], crm["since_exact"]) == (
        "STOPPED",
        "crm.deal",
        False,
    )
    assert (shop["state"], shop["present_state"]) == ("RUNNING", "STANDBY")


def test_groups_name_the_most_urgent_state(admin: httpx.Client) -> None:
    by_state = admin.get("/api/v1/instance-groups").json()
    assert [(each["name"], each["count"], each["worst_count"]) for each in by_state] == [
        ("STOPPED", 1, 1),
        ("STANDBY", 1, 1),
    ]
    (group,) = admin.get("/api/v1/instance-groups", params={"by": "server"}).json()
    assert (group["name"], group["worst"], group["instances"]) == (
        "r-gone, which has ended",
        "STOPPED",
        ["crm", "shop-a"],
    )


def test_tables_that_can_be_peeked_are_listed(admin: httpx.Client) -> None:
    tables = {each["name"]: each["topics"] for each in admin.get("/api/v1/peek/tables").json()}
    assert tables["shop.client"] == ["shop"]

"""The page of one instance over HTTP, with statuses and orders in a real ZooKeeper."""

from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from api.services.failover_desk import FailoverDesk
from deploy.embedded import Kafka, ZooKeeper
from relay.errors import StoreUnreachable
from relay.state import (
    FlowStore,
    InstanceStatus,
    InstanceStore,
    Paths,
    PlacementStore,
)
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.page_clients import announce_two_relays, page_client
from tests.support.waiting import wait_until

SOURCE = {"host": "127.0.0.1", "port": 1, "user": "u", "server_id": 7}
STOPPED = InstanceStatus("shop", "STOPPED", "BINLOG_PURGED", "it is <gone>.", "restore it.", "r1")
HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def installation(fresh_name: FreshName) -> str:
    return fresh_name("instance-page")


@pytest.fixture(scope="module")
def admin(
    zookeeper: ZooKeeper, kafka: Kafka, session: Session, paths: Paths, installation: str
) -> Iterator[httpx.Client]:
    announce_two_relays(session, paths)
    InstanceStore(session, paths).put_status(STOPPED)
    instances = [{"name": "shop", "source": SOURCE}]
    with page_client(zookeeper, kafka, installation, instances=instances) as client:
        yield client


def test_a_stopped_instance_says_why_and_what_to_do(admin: httpx.Client) -> None:
    text = admin.get("/instances/shop").text
    assert "Why it is stopped, and what to do" in text
    assert "It is &lt;gone&gt;." in text
    assert "Restore it." in text
    assert "s1 leads it and reads 127.0.0.1:1. Stopped for at least" in text
    assert text.count('role="img"') >= 3  # two charts and the bar of states
    assert "Preview a reposition" in text


def test_an_unmapped_table_leads_to_its_entry_in_the_editor(
    admin: httpx.Client, session: Session, paths: Paths
) -> None:
    unmapped = InstanceStatus(
        "shop", "STOPPED", "UNMAPPED_NAME", "No table mapping lists crm_01.a&b.", "add it.", "r1"
    )
    store = InstanceStore(session, paths)
    store.put_status(unmapped)
    try:
        link = "./mappings/edit?table=crm_01.a%26b"
        wait_until(lambda: f'href="{link}"' in admin.get("/").text, "the link in Needs attention")
        assert f'href=".{link}"' in admin.get("/instances/shop").text
        assert 'data-first="dbs"' in admin.get("/mappings/edit?table=crm_01.a").text
    finally:
        store.put_status(STOPPED)


def test_a_part_that_cannot_be_read_names_the_server_and_claims_nothing(
    admin: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise StoreUnreachable("No ZooKeeper server answers at zk1:2181.")

    monkeypatch.setattr(FailoverDesk, "show", away)
    text = admin.get("/instances/shop").text
    assert "<h2>ZooKeeper does not answer</h2>" in text
    assert "No ZooKeeper server answers at zk1:2181. Not shown: the servers of the source" in text
    assert "No relay watches a standby server" not in text
    assert "No row was left out." not in text


def test_a_relay_that_reports_nothing_any_more_is_named(
    admin: httpx.Client, session: Session, paths: Paths
) -> None:
    store = InstanceStore(session, paths)
    store.put_status(replace(STOPPED, relay="r-gone", updated_ms=1_767_225_600_000))
    try:
        gone = "r-gone reports nothing any more"
        wait_until(lambda: gone in admin.get("/instances/shop").text, "the name of the relay")
    finally:
        store.put_status(STOPPED)
    wait_until(lambda: gone not in admin.get("/instances/shop").text, "the relay that lives")


@pytest.mark.parametrize("span", ["1h", "6h", "24h", "7d", "no"])
def test_every_range_can_be_linked(admin: httpx.Client, span: str) -> None:
    assert admin.get(f"/instances/shop?range={span}").status_code == 200


def test_an_unknown_instance_is_a_page_with_the_code(admin: httpx.Client) -> None:
    for path in ("/instances/none", "/instances/none/reposition", "/instances/%3Cb%3E"):
        answer = admin.get(path)
        assert (answer.status_code, "NODE_MISSING" in answer.text) == (404, True), path
        assert "<b>&#39;" not in answer.text


def test_acts_of_the_page_are_those_of_the_endpoints(
    admin: httpx.Client, session: Session, paths: Paths
) -> None:
    flows = FlowStore(session, paths)
    answer = admin.post("/instances/shop/pause", data={"comment": "disks"})
    assert (answer.status_code, answer.headers["location"]) == (303, "../shop?done=paused")
    flow = flows.read("shop")
    assert (flow.paused, flow.by, flow.comment) == (True, "api.token", "disks")
    assert admin.get("/instances/shop?done=paused").text.count("The pause is ordered.") == 1
    throttled = admin.post("/instances/shop/throttle", data={"rows": "8,000", "bytes": ""})
    assert throttled.status_code == 303
    flow = flows.read("shop")
    assert (flow.paused, flow.rows_per_second, flow.bytes_per_second) == (True, 8000, None)
    assert admin.post("/instances/shop/resume", data={}).status_code == 303
    assert flows.read("shop").paused is False
    assert admin.post("/instances/shop/start", data={}).status_code == 303
    acts = [each["act"] for each in admin.get("/api/v1/audit?subject=shop").json()]
    assert sorted(acts) == ["flow.set", "flow.set", "flow.set", "instance.started"]


def test_a_move_is_ordered_and_withdrawn(
    admin: httpx.Client, session: Session, paths: Paths
) -> None:
    overrides = PlacementStore(session, paths)
    assert admin.post("/instances/shop/move", data={"to": "r2"}).status_code == 303
    assert overrides.overrides().moves["shop"].to == "r2"
    assert "Withdraw the move" in admin.get("/instances/shop").text
    assert admin.post("/instances/shop/withdraw-move", data={}).status_code == 303
    assert overrides.overrides().moves == {}


@pytest.mark.parametrize(
    ("act", "data", "status", "said"),
    [
        ("throttle", {"rows": "many", "comment": "kept"}, 400, "Rows must be a whole number"),
        ("throttle", {"rows": "-1", "comment": "kept"}, 400, "Rows must not be negative"),
        ("move", {"comment": "kept"}, 400, "No relay is chosen."),
        ("move", {"to": "nowhere", "comment": "kept"}, 409, "No connected relay or server named"),
    ],
)
def test_a_refused_act_shows_its_dialog_with_what_was_typed(
    admin: httpx.Client, act: str, data: dict[str, str], status: int, said: str
) -> None:
    answer = admin.post(f"/instances/shop/{act}", data=data)
    assert answer.status_code == status
    dialog = answer.text.partition(f'<dialog id="{act}"')[2].partition("</dialog>")[0]
    assert "data-open" in dialog.partition(">")[0]
    assert said in dialog
    assert 'value="kept"' in dialog


def test_a_reposition_is_previewed_and_refused_without_its_confirmation(
    admin: httpx.Client,
) -> None:
    page = admin.get("/instances/shop/reposition?file=bin.1&offset=3")
    assert "This target cannot be used" in page.text
    assert "greater than or equal to 4" in page.text
    assert "is not a time" in admin.get("/instances/shop/reposition?time=noon").text
    refused = admin.post(
        "/instances/shop/reposition", data={"file": "bin.1", "offset": "4", "confirm": "sho"}
    )
    assert refused.status_code == 400


def test_who_may_not_operate_sees_disabled_buttons(admin: httpx.Client) -> None:
    anonymous = {"Authorization": "", **HTML}
    text = admin.get("/instances/shop", headers=anonymous).text
    assert "requires the right operate" in text
    assert '<dialog id="pause"' not in text
    assert admin.post("/instances/shop/pause", headers=anonymous).status_code == 401


def test_a_running_instance_is_restarted_after_its_dialog_said_what_happens(
    admin: httpx.Client, session: Session, paths: Paths
) -> None:
    store = InstanceStore(session, paths)
    store.put_status(replace(STOPPED, state="RUNNING", code="", reason="", remedy=""))
    try:
        wait_until(lambda: "Restart shop" in admin.get("/instances/shop").text, "the dialog")
        text = admin.get("/instances/shop").text
        assert "It aborts the open Kafka transaction" in text
        assert admin.post("/instances/shop/start", data={"comment": "ticket 9"}).status_code == 303
        assert admin.get("/api/v1/audit?limit=1").json()[0]["comment"] == "ticket 9"
        assert store.calls("shop") is not None
    finally:
        store.put_status(STOPPED)
        wait_until(lambda: "Start shop" in admin.get("/instances/shop").text, "the stop")

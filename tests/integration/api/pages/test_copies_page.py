"""The page of table copies over HTTP, with requests in a real ZooKeeper."""

from collections.abc import Iterator

import httpx
import pytest

from deploy.embedded import Kafka, ZooKeeper
from relay.audit import AuditTrail
from relay.settings import KafkaSettings
from relay.state import InstanceStatus, InstanceStore, Paths, SnapshotStore
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.page_clients import announce_two_relays, csrf_of, page_client

SOURCE = {"host": "127.0.0.1", "port": 1, "user": "u", "server_id": 7}
COPIES = "/instances/shop/copies"
PROGRESS = {
    "table": "shop_1.orders", "rows": 4711, "remaining": 815, "rows_per_second": 99.0,
    "tables_left": 3, "tables_done": 0, "voided": 0, "waits": "live rows lag 12 s", "lost": [],
}  # fmt: skip


@pytest.fixture(scope="module")
def installation(fresh_name: FreshName) -> str:
    return fresh_name("copies-page")


@pytest.fixture(scope="module")
def admin(
    zookeeper: ZooKeeper, kafka: Kafka, session: Session, paths: Paths, installation: str
) -> Iterator[httpx.Client]:
    announce_two_relays(session, paths)
    InstanceStore(session, paths).put_status(InstanceStatus("shop", "RUNNING", relay="r1"))
    instances = [
        {"name": "shop", "source": SOURCE},
        {"name": "canal", "source": SOURCE, "message": {"value_style": "canal"}},
    ]
    with page_client(zookeeper, kafka, installation, instances=instances) as client:
        yield client


def previewed(admin: httpx.Client, copies: str, asked: dict[str, str]) -> str:
    """Ask as the form of the page does."""
    form = admin.get(copies).text
    assert f'method="post" action="../..{copies}/preview"' in form
    answer = admin.post(f"{copies}/preview", data={**asked, "csrf": csrf_of(form)})
    assert (answer.status_code, answer.headers.get("location")) == (200, None)
    return answer.text


def test_a_condition_is_in_no_address(admin: httpx.Client) -> None:
    """Access logs and histories of browsers hold addresses, and conditions hold values of rows."""
    asked = {"tables": "shop.orders", "where": "name = 'Jane Roe'"}
    assert "Jane" in previewed(admin, COPIES, asked)
    assert "What will happen" not in admin.get(COPIES, params=asked).text
    answer = admin.post(f"{COPIES}/preview", data=asked)
    assert '?next=/instances/shop/copies"' in answer.text  # a sign-in leads back to the form


def test_a_copy_is_foretold_started_shown_paused_resumed_and_cancelled(
    admin: httpx.Client, session: Session, paths: Paths, installation: str, kafka: Kafka
) -> None:
    assert "No copy was requested" in admin.get(COPIES).text
    assert 'href="/instances/shop/copies"' in admin.get("/instances/shop").text.replace("../", "/")
    wish = {"tables": "shop.orders shop.lines", "where": "id > 1", "rows": "500"}
    elsewhere = previewed(admin, COPIES, {**wish, "to_topic": "shop.copy"})
    assert "The messages have the format canal-json. If the topic has another" in elsewhere
    assert "cannot receive copied rows" in previewed(
        admin, COPIES, {**wish, "to_topic": "shop.ddl"}
    )
    preview = previewed(admin, COPIES, wish)
    assert "What will happen" in preview
    assert "Only rows for which id &gt; 1 holds." in preview
    assert "At most 500 rows/s. It waits while Threads_running is above 25" in preview
    asked = {"tables": ["shop.orders"], "where": "id > 1", "instances": ["shop"]}
    foretold = admin.post("/api/v1/snapshots/preview", json=asked).json()["sentences"]
    assert "Only rows for which id > 1 holds." in foretold
    assert SnapshotStore(session, paths).all_of("shop") == []

    form = {**wish, "csrf": csrf_of(preview), "comment": "a new search"}
    answer = admin.post(COPIES, data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, "copies?done=copy-started")
    [request] = SnapshotStore(session, paths).all_of("shop")
    assert (request.tables, request.where, request.rows_per_second, request.comment) == (
        ("shop.orders", "shop.lines"),
        "id > 1",
        500,
        "a new search",
    )
    again = admin.post(COPIES, data=form)
    assert (again.status_code, "already copies the same tables" in again.text) == (409, True)

    status = InstanceStatus(
        "shop", "RUNNING", relay="r1", snapshot={"request": request.id, **PROGRESS}
    )
    InstanceStore(session, paths).put_status(status)
    text = admin.get(COPIES).text
    for shown in ("4,711", "815", "99", "now shop_1.orders", "waits: live rows lag 12 s"):
        assert shown in text, shown
    [figures] = admin.get("/api/v1/snapshots").json()
    assert figures["progress"]["remaining"] == 815

    for verb, state in (("pause", "PAUSED"), ("resume", "RUNNING"), ("cancel", "CANCELLED")):
        act = {"csrf": csrf_of(text)}
        answer = admin.post(f"{COPIES}/{request.id}/{verb}", data=act)
        assert answer.headers["location"].startswith("../../../shop/copies?done=copy-"), verb
        [changed] = SnapshotStore(session, paths).all_of("shop")
        assert changed.state == state
    ended = admin.post(f"{COPIES}/{request.id}/resume", data={"csrf": csrf_of(text)})
    assert (ended.status_code, "has already ended" in ended.text) == (409, True)
    settings = KafkaSettings(bootstrap_servers=kafka.bootstrap, replication_factor=1)
    acts = {each.act for each in AuditTrail(settings, installation).entries(20, "shop")}
    assert {"snapshot.started", "snapshot.paused", "snapshot.running", "snapshot.cancelled"} <= acts


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"tables": "orders"}, "is not a logical table name"),
        ({"tables": "shop.orders", "where": "1; DROP TABLE x"}, "condition is refused"),
        ({"tables": "shop.orders", "rows": "many"}, "must be a whole number"),
    ],
)
def test_a_copy_that_no_request_may_ask_for_is_refused_in_its_place(
    admin: httpx.Client, asked: dict[str, str], told: str
) -> None:
    text = previewed(admin, COPIES, asked)
    assert "This copy cannot be started" in text
    assert told in text
    assert "What will happen" not in text


def test_settings_that_exclude_copies_are_named_before_the_start(admin: httpx.Client) -> None:
    text = previewed(admin, "/instances/canal/copies", {"tables": "shop.orders"})
    assert "does not give the bytes of live messages" in text
    assert "Start the copy" not in text


def test_an_unknown_instance_is_a_page_with_the_code(admin: httpx.Client) -> None:
    answer = admin.get("/instances/none/copies")
    assert (answer.status_code, "NODE_MISSING" in answer.text) == (404, True)

"""The pages of failover and servers over HTTP, with what relays write in a real ZooKeeper."""

from collections.abc import Iterator

import httpx
import pytest

from deploy.embedded import Kafka, ZooKeeper
from relay.model.failover import ServerRole
from relay.state import (
    FailoverView,
    InstanceStatus,
    InstanceStore,
    Paths,
    PlacementStore,
    ServerView,
)
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.page_clients import announce_two_relays, page_client

MASTER = ServerView("master", "db1:3306", answers=True, executed="u:1-90210", behind=0)
UUID = "11111111-1111-1111-1111-111111111111"
BEHIND = ServerView(
    "standby",
    "db2:3306",
    answers=True,
    executed=f"{UUID}:1-88970",
    behind=1240,
    lacking=f"{UUID}:88971-90210",
)


@pytest.fixture(scope="module")
def installation(fresh_name: FreshName) -> str:
    return fresh_name("failover-page")


@pytest.fixture(scope="module")
def admin(
    zookeeper: ZooKeeper, kafka: Kafka, session: Session, paths: Paths, installation: str
) -> Iterator[httpx.Client]:
    announce_two_relays(session, paths)
    store = InstanceStore(session, paths)
    store.put_status(InstanceStatus("shop", "RUNNING", relay="r1"))
    view = FailoverView(
        followed="master", reason="the standby is behind.", servers=(MASTER, BEHIND)
    )
    store.failover.put_view("shop", view)
    with page_client(zookeeper, kafka, installation) as client:
        yield client


def test_every_source_is_listed_with_its_proof(admin: httpx.Client) -> None:
    text = admin.get("/failover?instance=shop").text
    assert "1 of 1 source has another server; 0 could switch now." in text
    assert "Not yet: published transactions are missing" in text
    assert "Missing: 1,240 published transactions." in text
    (shop,) = admin.get("/api/v1/failover").json()
    assert shop["instance"] == "shop"
    assert [each["proof"]["has_published"] for each in shop["servers"]] == [True, False]
    assert admin.get("/failover?instance=none").status_code == 404


def test_orders_of_the_page_are_those_of_the_endpoints(
    admin: httpx.Client, session: Session, paths: Paths
) -> None:
    store = InstanceStore(session, paths).failover
    own = "/instances/shop/failover"
    sure = {"confirm": "shop", "comment": "upgrade", "source": ""}
    answer = admin.post(f"{own}/switch", data={**sure, "to": "standby"})
    assert (answer.status_code, answer.headers["location"]) == (
        303,
        "../../../failover?instance=shop&done=switch-ordered",
    )
    orders = store.orders("shop")
    assert (orders.switch_to, orders.by, orders.comment) == (
        ServerRole.STANDBY,
        "api.token",
        "upgrade",
    )
    assert admin.post(f"{own}/release", data={"source": ""}).status_code == 303
    assert store.orders("shop").switch_to is None
    assert admin.post(f"{own}/hold", data={"source": ""}).status_code == 303
    assert store.orders("shop").hold is True
    assert "Switches held by api.token" in admin.get("/failover").text
    lost = {**sure, "gtids": f"{UUID}:88971-90210"}
    assert admin.post(f"{own}/accept-loss", data=lost).status_code == 303
    assert store.orders("shop").accepted == f"{UUID}:88971-90210"
    assert admin.post(f"{own}/release", data={"source": ""}).status_code == 303


@pytest.mark.parametrize(
    ("act", "data", "said"),
    [
        ("switch", {"to": "standby", "confirm": "sho", "comment": "why"}, "Type shop to confirm."),
        ("switch", {"to": "standby", "confirm": "shop", "comment": " "}, "A comment is required."),
        ("switch", {"to": "third", "confirm": "shop", "comment": "why"}, "To: Input should be"),
        (
            "accept-loss",
            {"gtids": f"{UUID}:1", "confirm": "shop", "comment": "w"},
            "not missing on any server",
        ),
    ],
)
def test_a_refused_order_changes_nothing_and_says_why(
    admin: httpx.Client,
    session: Session,
    paths: Paths,
    act: str,
    data: dict[str, str],
    said: str,
) -> None:
    answer = admin.post(f"/instances/shop/failover/{act}", data={"source": "", **data})
    assert answer.status_code == 400
    dialog = answer.text.partition(f'<dialog id="{act.removesuffix("-loss")}-"')[2]
    assert "data-open" in dialog.partition(">")[0]
    assert said in dialog.partition("</dialog>")[0], dialog[:600]
    orders = InstanceStore(session, paths).failover.orders("shop")
    assert (orders.switch_to, orders.accepted) == (None, "")


def test_a_server_is_drained_after_a_preview(
    admin: httpx.Client, session: Session, paths: Paths
) -> None:
    text = admin.get("/servers").text
    assert "2 relays on 2 servers lead 1 of 1 instance." in text
    answer = admin.post("/api/v1/placement/maintenance/s1/preview")
    assert answer.json() == {
        "server": "s1",
        "instances": [{"instance": "shop", "leader": "r1", "to": "r2", "reason": ""}],
    }
    assert "1 can be handed over to other relays" in admin.get("/servers/s1/maintenance").text
    overrides = PlacementStore(session, paths)
    assert overrides.overrides().maintenance == {}
    begun = admin.post("/servers/s1/maintenance", data={"comment": "disks"})
    assert (begun.status_code, begun.headers["location"]) == (303, "../../servers?done=drained")
    assert overrides.overrides().maintenance["s1"].note.comment == "disks"
    assert "in maintenance" in admin.get("/servers?done=drained").text
    assert admin.post("/servers/s1/end-maintenance", data={}).status_code == 303
    assert admin.post("/servers/s1/end-maintenance", data={}).status_code == 404
    assert overrides.overrides().maintenance == {}

"""Orders about an instance's source over HTTP: who may give them, what they must name, and what is
written down.
"""

from dataclasses import replace
from typing import Final

import httpx
import pytest

from deploy.embedded import Kafka, ZooKeeper
from relay.deadline import Deadline
from relay.state import (
    FailoverStore,
    FailoverView,
    InstanceStatus,
    InstanceStore,
    Paths,
    ServerView,
    StandingOrders,
    SwitchNote,
)
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import admin_client, admin_settings

M: Final = "11111111-1111-1111-1111-111111111111"
_VIEW: Final = FailoverView(
    followed="master",
    decision="wait",
    reason="standby is 3 transactions behind",
    published=f"{M}:1-10",
    servers=(
        ServerView("master", "m:1"),
        ServerView("standby", "s:1", answers=True, behind=3, lacking=f"{M}:8-10"),
    ),
)
_INSTANCE: Final = {
    "name": "shop",
    "source": {
        "host": "m",
        "port": 1,
        "user": "relay",
        "server_id": 7,
        "standby": {"host": "s", "port": 1},
    },
}


def _refused(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, str(answer.json()["detail"])


def test_orders_stand_until_they_are_taken_back(
    kafka: Kafka, zookeeper: ZooKeeper, fresh_name: FreshName
) -> None:
    name = fresh_name("desk")
    broker = {
        "bootstrap_servers": kafka.bootstrap,
        "replication_factor": 1,
        "min_insync_replicas": 1,
    }
    settings = admin_settings(zookeeper.hosts, name, kafka=broker, instances=[_INSTANCE])
    session = Session(settings.zookeeper)
    session.start(Deadline.after(60))
    store = FailoverStore(session, Paths.of(settings.zookeeper, name))
    with admin_client(settings) as admin:
        address, ann = "/api/v1/instances/shop/failover", {"X-Author": "ann", "X-Comment": "drill"}
        assert admin.get(address).json()["servers"] == []
        assert _refused(admin.post(f"{address}/hold", headers=ann)) == (
            400,
            "The leading relay has not reported the servers of shop.",
        )
        store.put_view("shop", _VIEW)
        assert _refused(admin.post(f"{address}/hold")) == (
            400,
            "The request does not name the author of the order.",
        )
        assert (
            admin.post(f"{address}/hold", headers={**ann, "Authorization": ""}).status_code == 401
        )
        assert admin.get("/api/v1/instances/none/failover").status_code == 404

        assert admin.post(f"{address}/hold", headers=ann).json()["orders"]["hold"] is True
        assert (
            admin.post(f"{address}/switch", headers=ann, json={"to": "standby"}).json()["orders"][
                "switch_to"
            ]
            == "standby"
        )
        assert (
            admin.post(f"{address}/switch", headers=ann, json={"to": "elsewhere"}).status_code
            == 422
        )
        refused = admin.post(f"{address}/accept-loss", headers=ann, json={"gtids": f"{M}:7-10"})
        assert _refused(refused) == (
            400,
            (
                f"These transactions of your request are not missing on any server: {M}:7. "
                f"Missing transactions: {M}:8-10."
            ),
        )
        assert (
            admin.post(
                f"{address}/accept-loss", headers=ann, json={"gtids": "nonsense"}
            ).status_code
            == 400
        )
        orders = admin.post(
            f"{address}/accept-loss", headers=ann, json={"gtids": f"{M}:8-10"}
        ).json()["orders"]
        assert (orders["accepted"], orders["accepted_by"], orders["by"], orders["number"]) == (
            f"{M}:8-10",
            "ann",
            "ann",
            3,
        )
        store.note_switch("shop", SwitchNote(1, "standby", lost=f"{M}:8-10", accepted_by="ann"))
        shown = admin.post(f"{address}/release", headers=ann).json()
        assert (
            shown["orders"]["hold"],
            shown["orders"]["switch_to"],
            shown["orders"]["accepted"],
        ) == (False, None, "")
        assert [each["lost"] for each in shown["history"]] == [f"{M}:8-10"]
        acts = [each["act"] for each in admin.get("/api/v1/audit?subject=shop").json()]
        assert acts == [
            "failover.release",
            "failover.accept-loss",
            "failover.switch",
            "failover.hold",
        ]
    standing = store.change_orders("shop", lambda before: replace(before, hold=True))
    assert (standing.number, standing.hold, store.orders("shop")) == (5, True, standing)
    session.stop()


def test_orders_to_a_group_name_the_source(
    kafka: Kafka, zookeeper: ZooKeeper, fresh_name: FreshName
) -> None:
    name = fresh_name("desk")
    broker = {
        "bootstrap_servers": kafka.bootstrap,
        "replication_factor": 1,
        "min_insync_replicas": 1,
    }
    settings = admin_settings(zookeeper.hosts, name, kafka=broker)
    session = Session(settings.zookeeper)
    session.start(Deadline.after(60))
    instances = InstanceStore(session, Paths.of(settings.zookeeper, name))
    instances.put_status(
        InstanceStatus("shop", "RUNNING", sources={"first": "b.000007:4", "second": "b.000900:4"})
    )
    instances.put_status(InstanceStatus("single", "RUNNING"))
    instances.failover.of_source("second").put_view("shop", _VIEW)
    with admin_client(settings) as admin:
        address, ann = "/api/v1/instances/shop/failover", {"X-Author": "ann"}
        orders = {
            "switch": {"to": "standby"},
            "hold": {},
            "release": {},
            "accept-loss": {"gtids": f"{M}:8-10"},
        }
        for order, body in orders.items():
            refused = admin.post(f"{address}/{order}", headers=ann, json=body)
            assert _refused(refused) == (
                400,
                "Instance shop reads a group of sources: first, second.",
            )
            refused = admin.post(
                f"{address}/{order}", headers=ann, json={**body, "source": "third"}
            )
            assert _refused(refused) == (
                400,
                "Instance shop has no source third, but first, second.",
            )
            refused = admin.post(
                f"{address}/{order}", headers=ann, json={**body, "source": "first"}
            )
            assert _refused(refused) == (
                400,
                "The leading relay has not reported the servers of first of shop.",
            )
            elsewhere = f"/api/v1/instances/single/failover/{order}"
            refused = admin.post(elsewhere, headers=ann, json={**body, "source": "first"})
            assert _refused(refused) == (
                400,
                "Instance single reads a single source, which is not called first.",
            )
        assert (
            admin.post(f"{address}/hold", headers=ann, json={"source": "second"}).status_code == 200
        )
        shown = admin.post(
            f"{address}/accept-loss", headers=ann, json={"gtids": f"{M}:8-10", "source": "second"}
        ).json()
        assert (shown["instance"], shown["servers"], shown["orders"]["hold"]) == ("shop", [], False)
        found = {
            each["source"]: (each["decision"], each["orders"]["hold"], each["orders"]["accepted"])
            for each in shown["sources"]
        }
        assert found == {"first": ("", False, ""), "second": ("wait", True, f"{M}:8-10")}
        assert admin.get("/api/v1/audit?subject=shop").json()[0]["after"] == {
            "source": "second",
            "gtids": f"{M}:8-10",
        }
        assert (
            admin.post(
                f"{address}/release", headers=ann, json={"source": "second", "all": True}
            ).status_code
            == 422
        )
    session.stop()


@pytest.mark.parametrize("garbage", [b"", b"[]", b'{"switch_to":"elsewhere","hold":"yes"}'])
def test_orders_that_cannot_be_read_are_none(garbage: bytes) -> None:
    assert StandingOrders.from_document(garbage) == StandingOrders()

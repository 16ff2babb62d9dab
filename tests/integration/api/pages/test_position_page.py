"""Skips, order keys and partitions from the page, with position records on a real broker."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from deploy.embedded import Kafka, ZooKeeper
from relay.kafka import TopicAdmin, TopicSpec
from relay.model.positions.position import OrderPair
from relay.model.records.position_record import PositionRecord
from relay.pipeline.delivery.new_producer import new_producer
from relay.position import KafkaPositionStore
from relay.settings import KafkaSettings, RelaySettings
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.page_clients import page_client
from tests.support.relays.admin_server import admin_settings

_GOLDEN = Path(__file__).parents[3] / "golden" / "position_records"
RECORD = PositionRecord.from_bytes((_GOLDEN / "position_record.1.json").read_bytes())
GTID = "3e11fa47-71ca-11e1-9e33-c80aa9429562:90"
INSTANCES = [
    {"name": name, "source": {"host": "127.0.0.1", "port": 1, "user": "u", "server_id": 7}}
    for name in ("shop", "crm", "new")
]
PAGE = "/instances/shop/position"
SURE = {"comment": "ticket 7", "confirm": "shop"}


@pytest.fixture(scope="module")
def installation(fresh_name: FreshName) -> str:
    return fresh_name("position-page")


@pytest.fixture(scope="module")
def topic(kafka: Kafka, installation: str) -> str:
    TopicAdmin(KafkaSettings(bootstrap_servers=kafka.bootstrap)).create(
        TopicSpec(installation, partitions=8, replication_factor=1)
    )
    return installation


@pytest.fixture(scope="module")
def admin(
    zookeeper: ZooKeeper, kafka: Kafka, session: Session, installation: str, topic: str
) -> Iterator[httpx.Client]:
    brokers = {
        "bootstrap_servers": kafka.bootstrap,
        "replication_factor": 1,
        "min_insync_replicas": 1,
    }
    settings = admin_settings(zookeeper.hosts, installation, kafka=brokers, instances=INSTANCES)
    first = replace(RECORD, partitions={topic: 4}, skips=(), split=None, replay=None)
    commit(settings, "shop", first)
    commit(settings, "crm", replace(first, order=OrderPair(1_800_000_000_000, 5)))
    with page_client(zookeeper, kafka, installation, instances=INSTANCES) as client:
        yield client


def commit(settings: RelaySettings, name: str, record: PositionRecord) -> None:
    store = KafkaPositionStore(settings.kafka, settings.installation, name)
    store.ensure_topic()
    instance = next(each for each in settings.instances if each.name == name)
    with closing(new_producer(settings.installation, settings.kafka, instance)) as producer:
        producer.open()
        producer.commit(store.message(record)).result(60)


def acts(admin: httpx.Client) -> list[str]:
    return [each["act"] for each in admin.get("/api/v1/audit?subject=shop").json()]


def carried_out(admin: httpx.Client, act: str, **fields: str) -> None:
    """Send an act as its form does, and follow to the page that says it is done."""
    sent = admin.post(f"{PAGE}/{act}", data={**fields, **SURE})
    assert sent.status_code == 303, sent.text
    assert "done=" in sent.headers["location"]


def test_a_skip_is_foretold_ordered_and_taken_back(admin: httpx.Client) -> None:
    foretold = admin.get(PAGE, params={"act": "skip", "gtid": GTID}).text
    assert f"No row of {GTID} is ever published, to any topic." in foretold
    assert f"Leave {GTID} out" in foretold
    preview = admin.post("/api/v1/instances/shop/position/skip/preview", json={"gtid": GTID})
    assert preview.json()["sentences"][0] == f"No row of {GTID} is ever published, to any topic."
    unsure = admin.post(f"{PAGE}/skip", data={"gtid": GTID, "comment": "kept", "confirm": "sho"})
    assert unsure.status_code == 400
    assert 'value="kept"' in unsure.text
    assert GTID not in admin.get(PAGE).text

    carried_out(admin, "skip", gtid=GTID)
    assert "Do not skip it" in admin.get(PAGE).text
    undo = admin.get(PAGE, params={"act": "unskip", "gtid": GTID}).text
    assert f"{GTID} is published like every other transaction" in undo
    carried_out(admin, "unskip", gtid=GTID)
    assert "Do not skip it" not in admin.get(PAGE).text
    assert {"transaction.skip", "transaction.unskip"} <= set(acts(admin))


def test_order_keys_are_raised_above_another_instances(admin: httpx.Client) -> None:
    foretold = admin.get(PAGE, params={"act": "raise-floor", "above": "crm"}).text
    assert "crm up to 1800000000000.5." in foretold
    own = "/api/v1/instances/shop/position/raise-floor/preview"
    assert (
        "crm up to 1800000000000.5."
        in admin.post(own, json={"above": "crm"}).json()["sentences"][0]
    )
    assert admin.post(own, json={"above": "new"}).status_code == 400
    carried_out(admin, "raise-floor", above="crm")
    position = admin.get("/api/v1/instances/shop/position").json()
    assert position["execute_time"] == 1_800_000_000_000
    assert int(position["execute_position"]) > 5
    assert "position.raise-floor" in acts(admin)
    nothing = admin.get(PAGE, params={"act": "raise-floor", "above": "new"}).text
    assert "Instance new has published nothing yet" in nothing


def test_a_topic_is_partitioned_otherwise(admin: httpx.Client, topic: str) -> None:
    plan = {"act": "repartition", "topic": topic, "partitions": "8"}
    assert "stay in their partitions" in admin.get(PAGE, params=plan).text
    narrow = admin.get(PAGE, params={**plan, "partitions": "9"}).text
    assert "This cannot be done" in narrow
    assert "has 8 partitions" in narrow
    carried_out(admin, "repartition", topic=topic, partitions="8")
    assert "position.repartition" in acts(admin)
    again = admin.post(f"{PAGE}/repartition", data={"topic": topic, "partitions": "8", **SURE})
    assert (again.status_code, "already partitioned" in again.text) == (409, True)


def test_an_instance_without_a_position_and_an_unknown_one(admin: httpx.Client) -> None:
    assert "new has published nothing yet" in admin.get("/instances/new/position").text
    assert admin.get("/instances/none/position").status_code == 404

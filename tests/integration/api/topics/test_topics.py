"""Topics of the mapping and their readers, on a real Kafka and a real ZooKeeper."""

from collections.abc import Callable, Iterator

import httpx
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from deploy.embedded import Kafka, ZooKeeper
from tests.servers.fixtures import FreshName
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.relays.peeked import peeked_admin
from tests.support.waiting import wait_until

ROWS = 20


@pytest.fixture
def name(fresh_name: FreshName) -> str:
    return fresh_name("topics")


@pytest.fixture
def admin(zookeeper: ZooKeeper, kafka: Kafka, name: str) -> Iterator[httpx.Client]:
    """An admin whose mapping sends `shop` to a topic of two partitions that holds committed rows
    and an open transaction, and `crm` to a topic that Kafka does not have.
    """
    settings = admin_settings(zookeeper.hosts, name, kafka={"bootstrap_servers": kafka.bootstrap})
    topics = AdminClient({"bootstrap.servers": kafka.bootstrap})
    topics.create_topics([NewTopic(name, 2, 1)])[name].result(60)
    _write(kafka, name)
    documents = {
        "com.pajk.Roma.topics": [
            {"logicDb": "shop", "topic": name},
            {"logicDb": "crm", "topic": f"{name}-later"},
        ],
        "com.pajk.Roma.dbs": [
            {"logicDb": "shop", "realDbs": "shop_01"},
            {"logicDb": "crm", "realDbs": "crm"},
        ],
        "com.pajk.Roma.tbs": [{"logicTb": "orders", "realTbs": "orders"}],
    }
    with admin_client(settings) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        saved = client.put(
            "/api/v1/configs/ROMA_GROUP", json=documents, headers={"If-None-Match": "*"}
        )
        assert saved.status_code < 300, saved.text
        yield client


def _write(kafka: Kafka, topic: str) -> None:
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": topic})
    producer.init_transactions(20)
    producer.begin_transaction()
    for number in range(ROWS):
        producer.produce(topic, str(number), partition=number % 2)
    producer.commit_transaction(20)
    producer.begin_transaction()
    producer.produce(topic, "open", partition=0)
    producer.flush(20)  # its transaction stays open


def _read(kafka: Kafka, topic: str, group: str, offsets: dict[int, int]) -> None:
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": group})
    consumer.commit(
        offsets=[TopicPartition(topic, number, at) for number, at in offsets.items()],
        asynchronous=False,
    )
    consumer.close()


def test_a_topic_says_what_can_be_read_and_which_group_is_how_far_behind(
    admin: httpx.Client, kafka: Kafka, name: str
) -> None:
    _read(kafka, name, f"{name}-first", {0: 4})
    _read(kafka, name, f"{name}-second", {0: ROWS // 2, 1: ROWS // 2})
    topic = admin.get(f"/api/v1/topics/{name}").json()
    ends = {each["partition"]: each["end"] for each in topic["partitions"]}
    assert ends == {0: ROWS // 2 + 1, 1: ROWS // 2 + 1}  # the marker of the commit counts too
    assert (topic["exists"], topic["offsets"]) == (True, ROWS + 2)
    groups = {each["group"]: (each["behind"], each["partitions"]) for each in topic["groups"]}
    assert groups == {f"{name}-first": (ROWS // 2 + 1 - 4, 1), f"{name}-second": (2, 2)}


def test_a_topic_that_kafka_lacks_is_listed_as_such(admin: httpx.Client, name: str) -> None:
    listed = {each["topic"]: each["exists"] for each in admin.get("/api/v1/topics").json()}
    assert listed == {name: True, f"{name}-later": False}
    missing = admin.get("/api/v1/topics/nowhere")
    assert (missing.status_code, missing.json()["code"]) == (404, "NOT_FOUND")
    assert missing.json()["detail"] == "The active mapping has no topic nowhere."


def test_the_page_of_an_instance_has_its_topics_with_groups_and_survives_a_dead_broker(
    zookeeper: ZooKeeper,
    new_kafka: Callable[..., Kafka],
    fresh_name: FreshName,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broker, own = new_kafka(), fresh_name("instance-topics")
    html = {"Accept": "text/html"}
    with peeked_admin(zookeeper.hosts, broker.bootstrap, own) as (client, feed):
        feed.row("INSERT", "1")
        _read(broker, own, f"{own}-reader", {1: 1})
        page = client.get("/instances/shop-a", headers=html)
        assert 'hx-get="../instances/shop-a/topics"' in page.text
        topics = client.get("/instances/shop-a/topics", headers=html)
        assert topics.status_code == 200
        assert f"<b>{own}</b>" in topics.text
        assert f"<code>{own}-reader</code>" in topics.text
        assert 'href="../../peek?table=shop.client"' in topics.text
        [fed] = client.get("/api/v1/instances/shop-a/topics").json()
        assert (fed["topic"], [each["group"] for each in fed["groups"]]) == (own, [f"{own}-reader"])
        assert client.get("/api/v1/instances/none/topics").status_code == 404
        broker.kill()
        monkeypatch.setattr("relay.kafka.consumer_groups._REQUEST_SECONDS", 1.0)
        monkeypatch.setattr("relay.kafka.topics._REQUEST_SECONDS", 1.0)
        away = client.get("/instances/shop-a/topics", headers=html)
        assert (away.status_code, "BROKER_UNREACHABLE" in away.text) == (503, True)
        part = client.get("/instances/shop-a/topics", headers={**html, "HX-Request": "true"})
        assert (part.status_code, "BROKER_UNREACHABLE" in part.text) == (200, True)
        assert client.get("/instances/shop-a", headers=html).status_code == 200
        assert client.get("/instances/none/topics", headers=html).status_code == 404

"""An admin on real Kafka whose instance has a dead letter, and whose audit trail has entries."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from confluent_kafka import Producer

from relay.audit import AuditEntry, AuditTrail
from relay.dead_letters import DeadLetter, DeadLetterTopic
from relay.kafka import TopicAdmin, TopicSpec
from relay.model.message import OutboundMessage
from relay.settings import KafkaSettings
from tests.support.relays.admin_server import admin_client, admin_settings
from tests.support.waiting import wait_until

LETTER = "0001-0"
VALUE = (
    b'{"data":[{"id":"7","note":"<b>private</b>","mail":"a@b.c"}],"database":"shop","es":0,'
    b'"gtid":"","id":1,"isDdl":false,"mysqlType":{"id":"bigint","note":"text"},'
    b'"old":[{"note":"open"}],"pkNames":["id"],"sql":"","sqlType":{},"table":"client","ts":0,'
    b'"type":"UPDATE"}'
)
ENTRIES = (
    AuditEntry("ann", "position.set", "shop", {"offset": 4}, {"offset": 900}, "poison", 1000),
    AuditEntry("bob", "flow.set", "shop", {"paused": False}, {"paused": True}, "<b>disk</b>", 2000),
    AuditEntry("ann", "mapping.saved", "", {"set": 1}, {"set": 2}, "second shard", 3000),
)


@contextmanager
def admin_with_letters(
    hosts: str, bootstrap: str, name: str, **instance: object
) -> Iterator[httpx.Client]:
    """Serve the admin. The topic of the letter's message has the installation's name.

    instance  further settings of the instance
    """
    kafka = KafkaSettings(bootstrap_servers=bootstrap, replication_factor=1, min_insync_replicas=1)
    trail = AuditTrail(kafka, name)
    for entry in ENTRIES:
        trail.append(entry)
    TopicAdmin(kafka).create(TopicSpec(name, 1, 1, {}))
    put_letter(kafka, name, "shop", VALUE)
    settings = admin_settings(
        hosts,
        name,
        kafka=kafka.model_dump(exclude_none=True),
        instances=[{"name": "shop", "source": {"host": "h", "user": "u"}, **instance}],
    )
    with admin_client(settings) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        yield client


def put_letter(
    kafka: KafkaSettings, installation: str, instance: str, value: bytes, number: str = LETTER
) -> None:
    """Write a dead letter, whose message has this value, into the instance's topic."""
    letter = DeadLetter(
        id=number,
        code="MESSAGE_TOO_LARGE",
        reason="the message is larger than the topic takes.",
        real="shop_01.user",
        logical="shop.client",
        file="mysql-bin.000007",
        offset=4711,
        gtid="",
        execute_time=1_767_225_600_000,
        execute_position=4_503_650_927_935_488,
        message=OutboundMessage(installation, 0, b'["shop.client","7"]', value, ()),
        value_bytes=len(value),
        written_ms=1_767_225_600_100,
    )
    letters = DeadLetterTopic(kafka, installation, instance)
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    for message in letters.messages(letter, letters.ensure()):
        producer.produce(message.topic, message.value, message.key, message.partition)
    assert producer.flush(20) == 0

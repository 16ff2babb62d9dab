"""Two operators send the same dead letter again at the same time: its message is sent once."""

import sys
from threading import Barrier, Thread

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from deploy.embedded import Kafka
from relay.dead_letters import DeadLetter, DeadLetterTopic, ListedDeadLetter
from relay.errors import ReplayRefused
from relay.model.message import OutboundMessage
from relay.operations.replay import check, replay
from relay.operations.who import Who
from relay.settings import RelaySettings
from tests.servers.fixtures import FreshName
from tests.support.rows.topic_clients import admin_of
from tests.support.rows.topic_reading import read_topic


@pytest.fixture
def settings(kafka: Kafka, fresh_name: FreshName) -> RelaySettings:
    brokers = {"replication_factor": 1, "min_insync_replicas": 1}
    return RelaySettings.model_validate(
        {
            "installation": fresh_name("letters"),
            "kafka": {"bootstrap_servers": kafka.bootstrap, **brokers},
            "zookeeper": {"hosts": "127.0.0.1:1"},
            "instances": [{"name": "shop", "source": {"host": "h", "user": "u", "server_id": 1}}],
        }
    )


def kept_letter(kafka: Kafka, settings: RelaySettings) -> DeadLetter:
    """Make a topic, and a dead letter with a message for it."""
    topic = f"{settings.installation}.rows"
    with admin_of(kafka.bootstrap) as admin:
        admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(60)
    message = OutboundMessage(topic, 0, b'["shop.t","7"]', b'{"id":1}', ())
    letter = DeadLetter(
        id="0001-0",
        code="MESSAGE_TOO_LARGE",
        reason="too large.",
        real="shop.t",
        logical="shop.t",
        file="b.000007",
        offset=4711,
        gtid="",
        execute_time=1,
        execute_position=2,
        message=message,
        value_bytes=8,
    )
    letters = DeadLetterTopic(settings.kafka, settings.installation, "shop")
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    for part in letters.messages(letter, letters.ensure()):
        producer.produce(part.topic, part.value, part.key, part.partition)
    assert producer.flush(20) == 0
    return letter


def test_one_of_two_replays_at_the_same_time_sends_the_message(
    kafka: Kafka, settings: RelaySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    letter = kept_letter(kafka, settings)
    both = Barrier(2)
    ends: list[object] = []

    def check_at_once(found: ListedDeadLetter, *, again: bool) -> None:
        check(found, again=again)
        both.wait(60)

    def send(actor: str) -> None:
        try:
            ends.append(replay(settings, settings.instances[0], letter.id, Who(actor)))
        except ReplayRefused as exc:
            ends.append(exc)

    monkeypatch.setattr(sys.modules[check.__module__], "check", check_at_once)
    threads = [Thread(target=send, args=(actor,)) for actor in ("ann", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(isinstance(each, ReplayRefused) for each in ends) == [False, True]
    assert len(read_topic(kafka.bootstrap, letter.message.topic)) == 1
    monkeypatch.undo()
    with pytest.raises(ReplayRefused, match="was sent before"):
        replay(settings, settings.instances[0], letter.id, Who("eve"))

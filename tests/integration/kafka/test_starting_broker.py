"""Topics are made while the only broker starts: what it refuses then is tried again."""

import threading
from collections.abc import Callable

import pytest

from deploy.embedded import Kafka
from relay.errors import BatchAborted, BrokerUnreachable
from relay.kafka import TopicAdmin, TopicSpec
from relay.settings import KafkaSettings
from tests.support.waiting import wait_until


@pytest.mark.long
def test_what_a_starting_broker_refuses_is_an_error_that_passes(
    new_kafka: Callable[..., Kafka],
) -> None:
    broker = new_kafka()
    settings = KafkaSettings(
        bootstrap_servers=broker.bootstrap, replication_factor=1, min_insync_replicas=1
    )
    admin = TopicAdmin(settings)
    refusals: list[str] = []
    for number in range(5):
        broker.kill()
        start = threading.Thread(target=broker.start)
        start.start()
        topic = f"made-{number}"

        def made(topic: str = topic) -> bool:
            try:
                admin.create(TopicSpec(topic, 4, 1))
                return admin.state(topic) is not None
            except (BrokerUnreachable, BatchAborted) as exc:
                refusals.append(exc.reason)
                return False

        wait_until(made, f"the topic; refused before: {refusals}")
        start.join()
    assert refusals

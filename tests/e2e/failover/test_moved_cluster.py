"""A relay whose topics were mirrored to another cluster, truncated or made anew: it goes on
exactly, or says what is gone.
"""

from collections.abc import Iterator
from contextlib import closing
from typing import Any, Final

import pytest
import tomli_w
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from deploy.embedded import Kafka, MariaDB
from deploy.embedded.processes.jvm import QUICK_START
from relay.kafka import TopicAdmin, TopicSpec
from relay.settings import KafkaSettings
from tests.e2e.conftest import NewInstallation
from tests.servers.running import running
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import ids_in_order
from tests.support.waiting import wait_until

PARTITIONS: Final = 4


@pytest.fixture(scope="module")
def clusters() -> Iterator[tuple[Kafka, Kafka]]:
    brokers = (running(Kafka(heap="512m", jvm_options=QUICK_START)) for _ in range(2))
    with next(brokers) as one, next(brokers) as other:
        yield one, other


def mirrored(one: Kafka, other: Kafka, installation: Installation) -> None:
    """Copy what is committed as a mirror does: the same partitions, keys and headers, other
    offsets, no transactions.
    """
    source = AdminClient({"bootstrap.servers": one.bootstrap})
    names = [
        each for each in source.list_topics(timeout=10).topics if each.startswith(installation.name)
    ]
    producer = Producer({"bootstrap.servers": other.bootstrap})
    admin = TopicAdmin(
        KafkaSettings(
            bootstrap_servers=other.bootstrap, replication_factor=1, min_insync_replicas=1
        )
    )
    kept = TopicAdmin(installation.settings.kafka)
    for name in names:
        state = kept.state(name)
        assert state is not None
        admin.create(TopicSpec(name, state.partitions, 1, settings_of(source, name)))
        for message in committed(one, name, state.partitions):
            headers: Any = message.headers()
            producer.produce(
                name, message.value(), message.key(), message.partition(), headers=headers
            )
    assert producer.flush(20) == 0


def settings_of(admin: AdminClient, topic: str) -> dict[str, str]:
    from confluent_kafka.admin import ConfigResource, ResourceType

    resource = ConfigResource(ResourceType.TOPIC, topic)
    found = admin.describe_configs([resource])[resource].result(60)
    return {
        name: each.value
        for name, each in found.items()
        if not each.is_default and each.value is not None
    }


def committed(kafka: Kafka, topic: str, partitions: int) -> Iterator[Any]:
    settings = {
        "bootstrap.servers": kafka.bootstrap,
        "group.id": "mirror",
        "isolation.level": "read_committed",
        "enable.partition.eof": True,
    }
    with closing(Consumer({**settings, "auto.offset.reset": "earliest"})) as consumer:
        consumer.assign([TopicPartition(topic, each, 0) for each in range(partitions)])
        ended = 0
        while ended < partitions:
            message = consumer.poll(10)
            assert message is not None, f"{topic} was not read to its end"
            if message.error() is None:
                yield message
            else:
                ended += 1


def use(installation: Installation, kafka: Kafka) -> None:
    """Let the relay that starts next publish to this cluster."""
    installation.document["kafka"]["bootstrap_servers"] = kafka.bootstrap
    installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")


def truncate(kafka: Kafka, topic: str) -> None:
    """Take all records away, as `kafka-delete-records` does."""
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    everything = [
        TopicPartition(topic, each, -1)
        for each in admin.list_topics(topic, timeout=10).topics[topic].partitions
    ]
    for each in admin.delete_records(everything).values():
        each.result(60)


def make_anew(kafka: Kafka, topic: str) -> None:
    """Delete a topic and make it again, with nothing in it.

    Brokers refuse to take records out of a compacted one.
    """
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    settings = settings_of(admin, topic)
    admin.delete_topics([topic])[topic].result(60)
    wait_until(lambda: topic not in admin.list_topics(timeout=10).topics, "the topic gone")
    admin.create_topics([NewTopic(topic, 1, 1, config=settings)])[topic].result(60)


@pytest.mark.long
def test_on_a_mirrored_cluster_the_relay_goes_on_where_it_stood(
    mariadb: MariaDB, clusters: tuple[Kafka, Kafka], new_installation: NewInstallation
) -> None:
    one, other = clusters
    installation = new_installation(mariadb, one)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(
            f"insert into {name}.t values (1, 1, 'a')", f"insert into {name}.t values (2, 2, 'b')"
        )
        wait_until(lambda: ids_in_order(one, name) == [1, 2], "the first rows")
        assert relay.stop() == 0
        mirrored(one, other, installation)
        mariadb.execute(f"insert into {name}.t values (3, 3, 'c')")
        use(installation, other)
        relay.start()
        mariadb.execute(f"insert into {name}.t values (4, 4, 'd')")
        wait_until(lambda: ids_in_order(other, name) == [1, 2, 3, 4], "all rows, once")
    assert ids_in_order(one, name) == [1, 2]


def test_a_truncated_topic_of_rows_is_written_on_and_a_position_topic_made_anew_is_lost_by_name(
    mariadb: MariaDB, clusters: tuple[Kafka, Kafka], new_installation: NewInstallation
) -> None:
    kafka, _ = clusters
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'a')")
        wait_until(lambda: ids_in_order(kafka, name) == [1], "the first row")
        truncate(kafka, name)
        mariadb.execute(f"insert into {name}.t values (2, 2, 'b')")
        wait_until(lambda: ids_in_order(kafka, name) == [2], "the next row")
        assert relay.stop() == 0
        make_anew(kafka, f"{name}.position.shop")
        mariadb.execute(f"insert into {name}.t values (3, 3, 'c')")
        relay.start()
        relay.wait_for("STOPPED", "POSITION_LOST")
    assert ids_in_order(kafka, name) == [2], "nothing is published from another place"

"""A relay that is killed when a part of a giant transaction is visible."""

from contextlib import closing
from functools import partial

from confluent_kafka import Consumer, KafkaException, TopicPartition

from deploy.embedded import Kafka, MariaDB
from tests.support.relays.relay_process import RelayProcess
from tests.support.waiting import wait_until

_SOME_ROWS = 2_000


def visible(reader: Consumer, topic: str) -> int:
    """Return the sum of the offsets up to which read_committed consumers can read. 0 before the
    topic exists.
    """
    found = reader.list_topics(timeout=10).topics.get(topic)
    partitions = [] if found is None else list(found.partitions)
    try:
        return sum(
            reader.get_watermark_offsets(TopicPartition(topic, each), timeout=5, cached=False)[1]
            for each in partitions
        )
    except KafkaException:  # a partition of this moment
        return 0


def is_visible(reader: Consumer, topic: str, offsets: int) -> bool:
    return visible(reader, topic) > offsets


def half_published(
    mariadb: MariaDB, kafka: Kafka, relay: RelayProcess, name: str, rows: int
) -> None:
    """Insert `rows` rows into `<name>.t` in one transaction, and kill the relay when a part of them
    is visible in topic `<name>`.
    """
    mariadb.execute(
        f"insert into {name}.t select seq, seq, repeat('x', 400) from {name}.seq_1_to_{rows}"
    )
    with closing(Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": "t"})) as reader:
        wait_until(partial(is_visible, reader, name, _SOME_ROWS), "a part published")
        relay.kill()
        assert visible(reader, name) < rows, (
            "the crash came too late: nothing was left of the transaction"
        )

"""A topic that was just made is waited for; one that nobody makes is refused; memory is bounded. A
broker that delivers nothing is told from an open transaction.
"""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from confluent_kafka import Producer

from deploy.embedded.servers.kafka import Kafka
from relay.errors import BrokerUnreachable, PositionUnreadable, TopicRefused
from relay.kafka import PartitionReader, TopicAdmin, TopicSpec, partition_reader
from relay.settings import KafkaSettings


@pytest.fixture
def settings(kafka: Kafka) -> KafkaSettings:
    return KafkaSettings(
        bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
    )


def test_a_topic_that_appears_while_it_is_asked_for_is_read(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    topic = fresh_name("appearing")
    reader = PartitionReader(settings, topic, PositionUnreadable, appearing_s=60)
    with ThreadPoolExecutor(1) as pool:
        ends = pool.submit(reader.ends)
        assert not wait([ends], timeout=1).done, "nobody has made the topic yet"
        TopicAdmin(settings).create(TopicSpec(topic, 1, 1, {}))
        assert ends.result(60) == (0, 0)
    assert list(reader.committed(0, 0)) == []


def test_a_topic_that_nobody_makes_is_refused(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    with pytest.raises(TopicRefused, match="nobody"):
        PartitionReader(settings, fresh_name("nobody"), PositionUnreadable, appearing_s=0.5).ends()


@pytest.fixture
def written(kafka: Kafka, settings: KafkaSettings, fresh_name: Callable[[str], str]) -> str:
    """A topic with one record."""
    topic = fresh_name("written")
    TopicAdmin(settings).create(TopicSpec(topic, 1, 1, {}))
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    producer.produce(topic, b"value")
    assert producer.flush(30) == 0
    return topic


def test_a_broker_that_delivers_no_record_is_unreachable(
    kafka: Kafka, settings: KafkaSettings, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An instance waits for it; for an open transaction it would stop."""
    monkeypatch.setattr(partition_reader, "_REQUEST_SECONDS", 1.0)
    reader = PartitionReader(settings, written, PositionUnreadable, reading_s=1)
    start, end = reader.ends()
    kafka.pause()
    try:
        with pytest.raises(BrokerUnreachable, match=f"{written}"):
            list(reader.records(start, end))
    finally:
        kafka.resume()
    patient = PartitionReader(settings, written, PositionUnreadable)
    assert [value for _, value in patient.committed(start, end)] == [b"value"]


def test_a_broker_that_does_not_return_the_ends_is_unreachable(
    kafka: Kafka, settings: KafkaSettings, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition_reader, "_REQUEST_SECONDS", 1.0)
    reader = PartitionReader(settings, written, PositionUnreadable, appearing_s=1)
    kafka.pause()
    try:
        with pytest.raises(BrokerUnreachable, match=f"{written}"):
            reader.ends()
    finally:
        kafka.resume()
    monkeypatch.undo()
    assert reader.ends() == (0, 1)


def test_records_that_an_open_transaction_hides_are_unreadable(
    kafka: Kafka, settings: KafkaSettings, written: str
) -> None:
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": written})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(written, b"hidden")
    assert producer.flush(30) == 0
    reader = PartitionReader(settings, written, PositionUnreadable, reading_s=1)
    start, end = reader.ends()
    with pytest.raises(PositionUnreadable, match="an open transaction hides"):
        list(reader.records(start, end))
    producer.abort_transaction(30)
    patient = PartitionReader(settings, written, PositionUnreadable)
    assert [value for _, value in patient.committed(start, end)] == [b"value"]


READ = """
import sys
from pathlib import Path
from relay.allocator import return_large_buffers
from relay.errors import PositionUnreadable
from relay.kafka import PartitionReader
from relay.settings import KafkaSettings

def peak_kib():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(each.split()[1]) for each in lines if each.startswith("VmHWM"))

return_large_buffers()
settings = KafkaSettings(
    bootstrap_servers=sys.argv[1], replication_factor=1, min_insync_replicas=1
)
reader = PartitionReader(settings, sys.argv[2], PositionUnreadable)
start, end = reader.ends()
before = peak_kib()
print(sum(1 for _ in reader.records(start, end)), peak_kib() - before)
"""


def test_batches_that_were_compressed_a_hundred_times_do_not_fill_the_memory(
    settings: KafkaSettings, fresh_name: Callable[[str], str]
) -> None:
    """A fetch is bounded by compressed bytes: one of a megabyte would be a hundred here."""
    topic, records = fresh_name("compressed"), 20_000
    TopicAdmin(settings).create(TopicSpec(topic, 1, 1, {}))
    producer = Producer(
        {
            "bootstrap.servers": settings.bootstrap_servers,
            "compression.type": "lz4",
            "batch.size": 1_000_000,
            "linger.ms": 50,
        }
    )
    for _ in range(records):
        producer.produce(topic, b"0123456789" * 1000)
        producer.poll(0)
    producer.flush(30)
    command = (sys.executable, "-c", READ, settings.bootstrap_servers, topic)
    read = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    count, grown_kib = map(int, read.stdout.split())
    assert count == records
    assert grown_kib < 50_000

"""Source transactions that are too large for memory, or open for longer than the broker allows a
transaction.
"""

import re
import signal
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from confluent_kafka import Consumer, IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from deploy.embedded import Kafka, MariaDB
from relay.deadline import Deadline
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import topic_answers
from tests.support.waiting import wait_until

ROW_BYTES = 10_240
ROWS = 20_480
MEMORY_LIMIT_BYTES = 512 * 1024 * 1024


def peak_bytes(pid: int) -> int:
    """The most memory that the process ever held, as the kernel counts it."""
    found = re.search(r"^VmHWM:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024


def keys_in_order(bootstrap: str, topic: str, count: int, seconds: float) -> list[bytes]:
    """The keys of `count` messages in the order of the pair, without keeping their values, and of
    any that follow at once.
    """
    configuration = {
        "bootstrap.servers": bootstrap,
        "group.id": "tests",
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
    }
    deadline = Deadline.after(seconds)
    seen: list[tuple[bytes, bytes]] = []
    with closing(Consumer(configuration)) as consumer:
        partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        while True:
            messages = consumer.consume(500, timeout=1)
            if not messages and len(seen) >= count:
                return [key for _, key in sorted(seen)]
            assert not deadline.passed, f"{len(seen)} of {count} messages after {seconds} s"
            for message in messages:
                assert message.error() is None
                order = dict(message.headers() or [])["order"]
                assert isinstance(order, bytes)
                seen.append((order, message.key() or b""))


def test_two_hundred_megabytes_pass_through_half_a_gigabyte(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        text = f"repeat(md5(seq), {ROW_BYTES // 32})"
        mariadb.execute(f"insert into {name}.t select seq, seq, {text} from {name}.seq_1_to_{ROWS}")
        wait_until(lambda: topic_answers(kafka.bootstrap, name), "the topic")
        keys = keys_in_order(kafka.bootstrap, name, ROWS, 120)
        peak = peak_bytes(relay.pid)
    assert keys == [f'["{name}.t","{number}"]'.encode() for number in range(1, ROWS + 1)]
    assert peak < MEMORY_LIMIT_BYTES, f"{peak / 1024 / 1024:.0f} MiB"
    print(f"peak {peak / 1024 / 1024:.0f} MiB")


def test_the_brokers_timeout_of_a_long_transaction_is_not_taken_for_a_newer_relay(
    mariadb: MariaDB, new_kafka: Callable[..., Kafka], new_installation: NewInstallation
) -> None:
    rows = 60_000
    broker = new_kafka({"transaction.abort.timed.out.transaction.cleanup.interval.ms": 200})
    installation = new_installation(
        mariadb, broker, session_timeout_seconds=20, transaction={"timeout_ms": 1000}
    )
    name = installation.name
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(
            f"insert into {name}.t select seq, 1, repeat(md5(seq), 30) from {name}.seq_1_to_{rows}"
        )
        wait_until(lambda: topic_answers(broker.bootstrap, name), "the topic")
        # A long pause of the machine, with a transaction open.
        wait_until(
            lambda: paused_in_transaction(relay, broker.bootstrap, name),
            "a pause inside of a transaction",
        )
        wait_until(
            lambda: not transaction_open(broker.bootstrap, name),
            "the broker's end of the transaction",
        )
        relay.signal(signal.SIGCONT)
        keys = keys_in_order(broker.bootstrap, name, rows, 60)
        status = relay.wait_for("RUNNING")
        # The commit meets the broker's fence, or a message before it meets the client's own
        # timeout.
        assert "state=WAITING" in relay.log.read_text()
        assert relay.log.read_text().count("state=STANDBY") == 1, (
            "it went on by itself, without another election"
        )
    assert status.code == ""
    assert keys == [f'["{name}.t","{number}"]'.encode() for number in range(1, rows + 1)]


def paused_in_transaction(relay: RelayProcess, bootstrap: str, topic: str) -> bool:
    """Pause the relay; it goes on when it was between two transactions, or about to end one."""
    relay.signal(signal.SIGSTOP)
    inside = False
    try:
        if transaction_open(bootstrap, topic):
            threading.Event().wait(
                0.3
            )  # long enough for a commit on its way, too short for the broker's timeout
            inside = transaction_open(bootstrap, topic)
    finally:
        if not inside:
            relay.signal(signal.SIGCONT)
    return inside


def transaction_open(bootstrap: str, topic: str) -> bool:
    """Whether messages lie in the topic that a committed reader may not pass yet."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    partitions = [
        TopicPartition(topic, number)
        for number in admin.list_topics(topic, timeout=10).topics[topic].partitions
    ]

    latest: OffsetSpec = OffsetSpec.latest()  # type: ignore[no-untyped-call]

    def ends(isolation: IsolationLevel) -> list[int]:
        deadline = Deadline.after(60)
        while True:
            asked = admin.list_offsets(dict.fromkeys(partitions, latest), isolation_level=isolation)
            try:
                return [found.result(60).offset for found in asked.values()]
            except KafkaException as refusal:
                # A busy broker may not lead a partition yet that its metadata gives to it: unlike
                # the consumer, the admin client tells so.
                if refusal.args[0].code() != KafkaError.NOT_LEADER_FOR_PARTITION or deadline.passed:
                    raise

    return ends(IsolationLevel.READ_COMMITTED) != ends(IsolationLevel.READ_UNCOMMITTED)

"""Makes an archive of Kafka's classes by running a broker once; brokers start faster with it."""

from typing import ClassVar, Final

from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from deploy.embedded.errors import Unavailable
from deploy.embedded.processes.class_archive import REMEDY, make_archive
from deploy.embedded.processes.jvm import QUICK_START
from deploy.embedded.servers.kafka import Kafka

_ANSWER_S: Final = 60.0


class _SlowToStop(Kafka):
    """A broker whose JVM writes an archive while it stops: 5 s of CPU time, which a busy machine
    gives late.
    """

    stop_within_s: ClassVar[float] = 300.0


def archive_kafka() -> str:
    """Make the archive of Kafka's classes if it is missing; return the size of the file.

    Raises Unavailable, and other errors of embedded servers.
    """
    file = make_archive(Kafka.classpath(), _run)
    return f"an archive of {file.stat().st_size // 1_000_000} MB"


def _run(options: tuple[str, ...]) -> None:
    with _SlowToStop(jvm_options=(*QUICK_START, *options)) as broker:
        try:
            _use(broker.bootstrap)
        except KafkaException as exc:
            raise Unavailable(
                f"The broker whose classes are archived did not answer: {exc}.", REMEDY
            ) from exc
        broker.stop()


def _use(bootstrap: str) -> None:
    """Let a broker load what transactions, reading and groups need."""
    client: dict[str, str | int | float | bool] = {"bootstrap.servers": bootstrap, "log_level": 0}
    admin = AdminClient(client)
    admin.create_topics([NewTopic("t", 2, 1)])["t"].result(_ANSWER_S)
    producer = Producer({**client, "transactional.id": "t"})
    producer.init_transactions(_ANSWER_S)
    producer.begin_transaction()
    producer.produce("t", b"row")
    producer.commit_transaction(_ANSWER_S)
    consumer = Consumer({**client, "group.id": "t", "auto.offset.reset": "earliest"})
    try:
        consumer.subscribe(["t"])
        consumer.poll(_ANSWER_S)
        consumer.commit(asynchronous=False)
    finally:
        consumer.close()

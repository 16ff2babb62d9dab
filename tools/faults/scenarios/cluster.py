"""Faults of a cluster of three brokers with min.insync.replicas = 2."""

from confluent_kafka.admin import AdminClient

from deploy.embedded import Kafka, KafkaCluster
from relay.partition import java_hash
from tools.faults.scenario import scenario
from tools.faults.stage import Run


@scenario(
    "cluster-broker-killed",
    (
        "three brokers: the leader of the topic's first partition is killed and started again "
        "after 5 s"
    ),
    brokers="cluster",
)
def killed(run: Run) -> None:
    """Kill the broker that leads a partition of rows; measure the time without rows."""
    run.rest(0, 1)
    run.watcher.measure_silence()
    _kill(run, _leader(run, run.name, 0))


@scenario(
    "cluster-coordinator-killed",
    "three brokers: the transaction coordinator is killed and started again after 5 s",
    brokers="cluster",
)
def coordinator_killed(run: Run) -> None:
    """Kill the transaction coordinator during a transaction; measure the time without rows."""
    run.rest(0, 1)
    run.watcher.measure_silence()
    _kill(run, _coordinator(run))


@scenario(
    "cluster-coordinator-moved",
    (
        "three brokers: the transaction coordinator is stopped by SIGTERM, so another broker "
        "becomes coordinator"
    ),
    brokers="cluster",
)
def coordinator_moved(run: Run) -> None:
    """Stop the coordinator's broker and start it again: the coordinator moves twice."""
    run.rest(0, 1)
    run.watcher.measure_silence()
    broker = _coordinator(run)
    broker.stop()
    run.moving()
    broker.start()
    run.moving()


def _kill(run: Run, broker: Kafka) -> None:
    broker.kill()
    run.rest(5)
    broker.start()
    run.moving()


def _coordinator(run: Run) -> Kafka:
    """The broker that leads the partition of the transactions' topic to which the id belongs."""
    admin = AdminClient({"bootstrap.servers": run.kafka.bootstrap})
    topic = "__transaction_state"
    partitions = len(admin.list_topics(topic, timeout=10).topics[topic].partitions)
    return _leader(run, topic, (java_hash(f"{run.name}.shop") & 0x7FFFFFFF) % partitions)


def _leader(run: Run, topic: str, partition: int) -> Kafka:
    assert isinstance(run.kafka, KafkaCluster)
    admin = AdminClient({"bootstrap.servers": run.kafka.bootstrap})
    return run.kafka.broker(
        admin.list_topics(topic, timeout=10).topics[topic].partitions[partition].leader
    )

"""Finds the reason why the brokers did not accept a batch, for errors of the client that do not
name it: timeouts and missing rights.
"""

from collections.abc import Collection, Iterator
from typing import Final, NoReturn

from confluent_kafka import Producer
from confluent_kafka.admin import ClusterMetadata

from relay.errors import (
    BatchAborted,
    BrokerUnreachable,
    KafkaNotPermitted,
    RelayError,
)
from relay.kafka import RECHECKED, Right, TopicAdmin, cluster_metadata
from relay.settings import KafkaSettings

_ASK_SECONDS: Final = 2.0
_NO_LEADER: Final = -1
_LEADERLESS: Final = (
    "Start a broker that has a replica of the partition; the relay then continues by itself."
)


def raise_with_cause(
    error: RelayError, client: Producer, kafka: KafkaSettings, sent: Collection[tuple[str, int]]
) -> NoReturn:
    """Raise the result of `with_cause`. An unchanged error must not become its own cause."""
    named = with_cause(error, client, kafka, sent)
    if named is error:
        raise error
    raise named from error


def with_cause(
    error: RelayError, client: Producer, kafka: KafkaSettings, sent: Collection[tuple[str, int]]
) -> RelayError:
    """Return an error that names the problem of a topic and partition in `sent`.

    Return `error` itself if the cluster shows no problem. The client waits for a deleted topic as
    for unavailable brokers, and does not name a topic that it may not write.
    """
    if type(error) is KafkaNotPermitted:
        return _not_writable(error, kafka, sorted({topic for topic, _ in sent}))
    if type(error) is not BrokerUnreachable:
        return error
    try:
        found = cluster_metadata(client, kafka, _ASK_SECONDS)
    except RelayError:
        return error
    if missing := next(_missing(found, sent), ""):
        return BatchAborted(missing, remedy=RECHECKED)
    leaderless = [
        f"Partition {number} of topic {topic} has no leader"
        for topic, number in sorted(sent)
        if not _led(found, topic, number)
    ]
    return (
        BrokerUnreachable(f"{'; '.join(leaderless)}.", remedy=_LEADERLESS) if leaderless else error
    )


def _not_writable(
    error: KafkaNotPermitted, kafka: KafkaSettings, topics: Collection[str]
) -> RelayError:
    """Return an error that names the topic that the principal may not write.

    Return `error` if the cluster does not show it.
    """
    try:
        admin = TopicAdmin(kafka)
        for topic in topics:
            if "Write" not in (admin.permitted(topic) or ("Write",)):
                right = Right("Write", "topic", topic)
                return KafkaNotPermitted(
                    f"The relay's principal lacks {right.text}.", remedy=right.remedy
                )
    except KafkaNotPermitted as exc:
        return exc
    except RelayError:
        return error
    return error


def _missing(cluster: ClusterMetadata, sent: Collection[tuple[str, int]]) -> Iterator[str]:
    for topic, partition in sorted(sent):
        partitions = cluster.topics[topic].partitions if topic in cluster.topics else {}
        if not partitions:
            yield (
                f"The cluster has no topic {topic} any more; messages for it were waiting to "
                "be sent."
            )
        elif partition not in partitions:
            yield (
                f"Topic {topic} has {len(partitions)} partitions and no partition {partition} "
                "any more; messages for it were waiting to be sent."
            )


def _led(cluster: ClusterMetadata, topic: str, partition: int) -> bool:
    return bool(cluster.topics[topic].partitions[partition].leader != _NO_LEADER)

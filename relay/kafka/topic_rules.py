"""Rules for topics and brokers. Pure: preflight and the relay report the same sentences."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from relay.errors import KafkaNotPermitted, TopicRefused, TransactionsRefused
from relay.kafka.rights import Right
from relay.kafka.topic_form import TopicState
from relay.settings import KafkaSettings

FOREVER: Final = "-1"
"""Kafka's value of retention.ms and retention.bytes for unlimited retention."""
_MS_PER_HOUR: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class WantedTopic:
    """The settings that a row topic must have; `partitions` None: any number.

    `retention` has the form of the setting `topic.retention`.
    """

    partitions: int | None
    retention: str
    replication_factor: int
    min_insync_replicas: int
    message_max_bytes: int

    @classmethod
    def of(cls, kafka: KafkaSettings, partitions: int | None, retention: str) -> "WantedTopic":
        """Return a topic with the replicas that the settings require, and a size limit for the
        largest message.
        """
        return cls(
            partitions,
            retention,
            kafka.replication_factor,
            kafka.min_insync_replicas,
            kafka.message_max_bytes,
        )

    @property
    def cleanup_policy(self) -> str:
        """Return the topic's `cleanup.policy` for this retention."""
        return "compact" if self.retention == "compact" else "delete"

    @property
    def retention_ms(self) -> str:
        """Kafka's retention.ms for this retention. Without effect for "compact"."""
        return (
            str(int(self.retention[:-1]) * _MS_PER_HOUR)
            if self.retention.endswith("h")
            else FOREVER
        )

    @property
    def settings(self) -> dict[str, str]:
        """The topic settings with which a new topic is created."""
        common = {
            "min.insync.replicas": str(self.min_insync_replicas),
            "cleanup.policy": self.cleanup_policy,
        }
        if self.retention == "compact":
            return common
        return {**common, "retention.ms": self.retention_ms, "retention.bytes": FOREVER}


@dataclass(frozen=True, slots=True)
class TopicFinding:
    """A setting of a topic that differs from the required one, or a missing right to the topic.

    A `warning` does not prevent the relay from publishing.
    """

    error: TopicRefused | KafkaNotPermitted
    warning: bool = False


def row_topic_findings(
    state: TopicState, wanted: WantedTopic, *, published: bool = False
) -> list[TopicFinding]:
    """Return the problems of an existing row topic: settings that violate a guarantee or deserve a
    warning, and a missing right to write.

    `published`: the topic has rows of the instance, assigned by the wanted number of partitions.
    """
    return [
        *_lacking(state, "Write"),
        *_partitions(state, wanted, published=published),
        *_retention(state, wanted),
        *_copies(state, wanted),
        *_message_size(state, wanted),
    ]


def position_topic_findings(state: TopicState, wanted: WantedTopic) -> list[TopicFinding]:
    """Return the problems of a topic that the relay reads itself.

    It must have one partition and be compacted, because only the newest record of each key is
    needed.
    """
    policy = state.settings.get("cleanup.policy")
    form = TopicRefused(
        f"The position topic {state.name} has {state.partitions} partitions and "
        f"cleanup.policy={policy}; it must have 1 and compact.",
        remedy=(
            "Set cleanup.policy=compact on the topic. If it has more than one partition, it "
            "was not created by the relay: give the instance or the installation another name."
        ),
    )
    fits = state.partitions == 1 and policy == "compact"
    return [
        *_lacking(state, "Write", "Read"),
        *([] if fits else [TopicFinding(form)]),
        *_copies(state, wanted),
    ]


def _lacking(state: TopicState, *operations: str) -> Iterator[TopicFinding]:
    """Return a finding for each operation that the relay's principal may not perform on the
    topic.
    """
    for operation in operations:
        if state.permitted is not None and operation not in state.permitted:
            right = Right(operation, "topic", state.name)
            yield TopicFinding(
                KafkaNotPermitted(f"The relay's principal lacks {right.text}.", remedy=right.remedy)
            )


def transaction_timeout_error(
    timeout_ms: int, broker_settings: Mapping[str, str]
) -> TransactionsRefused | None:
    """Return an error if the brokers do not allow transactions as long as the setting requires;
    None otherwise.
    """
    allowed_ms = broker_settings.get("transaction.max.timeout.ms", "")
    if not allowed_ms.isdecimal() or timeout_ms <= int(allowed_ms):
        return None
    return TransactionsRefused(
        f"transaction.timeout_ms is {timeout_ms}, and the brokers' transaction.max.timeout.ms is "
        f"{allowed_ms}."
    )


def surplus_partitions(topic: str, found: int, placed: int) -> Iterator[TopicFinding]:
    """Warn of partitions that get no rows: partitions were added, but existing keys keep theirs."""
    if found > placed:
        reason = (
            f"Topic {topic} has {found} partitions, and rows go only to the first {placed}, so "
            "that each key stays in its partition."
        )
        remedy = (
            "Leave the topic as it is. To use more partitions, give the tables a new topic in "
            "the mapping, and copy them there."
        )
        yield TopicFinding(TopicRefused(reason, remedy=remedy), warning=True)


def _partitions(
    state: TopicState, wanted: WantedTopic, *, published: bool
) -> Iterator[TopicFinding]:
    if wanted.partitions is None:
        return
    yield from surplus_partitions(state.name, state.partitions, wanted.partitions)
    if state.partitions < wanted.partitions:
        reason = (
            f"Topic {state.name} has {state.partitions} partitions, and the instance publishes "
            f"to {wanted.partitions}."
        )
        again = (
            "The topic was created again with fewer partitions than before. Create it with "
            f"{wanted.partitions} partitions, and make new first copies of its tables. Or "
            "assign rows to fewer partitions from now on (`roma position repartition`)."
        )
        new = (
            f"Set partitions_num to {state.partitions}, for this topic alone in topic.rules. Or "
            f"raise the topic to {wanted.partitions} partitions, but only while it has no rows: "
            "consumers would look for existing keys in other partitions."
        )
        yield TopicFinding(TopicRefused(reason, remedy=again if published else new))


def _retention(state: TopicState, wanted: WantedTopic) -> Iterator[TopicFinding]:
    policy = state.settings.get("cleanup.policy", "")
    if policy != wanted.cleanup_policy:
        reason = (
            f"Topic {state.name} has cleanup.policy={policy}, and topic.retention = "
            f'"{wanted.retention}" needs {wanted.cleanup_policy}.'
        )
        remedy = (
            "Set cleanup.policy on the topic, or give the topic another retention in topic.rules."
        )
        yield TopicFinding(TopicRefused(reason, remedy=remedy))
    elif policy == "delete":
        yield from _finite(state, wanted, "retention.ms", wanted.retention_ms, "ms")
        yield from _finite(state, wanted, "retention.bytes", FOREVER, "bytes of a partition")


def _finite(
    state: TopicState, wanted: WantedTopic, name: str, needed: str, unit: str
) -> Iterator[TopicFinding]:
    found = state.settings.get(name, FOREVER)
    if found == FOREVER or (needed != FOREVER and int(found) >= int(needed)):
        return
    yield TopicFinding(
        TopicRefused(
            f"Topic {state.name} keeps rows for {found} {unit} ({name}), and topic.retention is "
            f'"{wanted.retention}".',
            remedy=(
                f"Set {name}={needed} on the topic (kafka-configs.sh --alter --topic "
                f"{state.name} --add-config {name}={needed}), or set topic.retention to the "
                "value of the topic."
            ),
        )
    )


def _copies(state: TopicState, wanted: WantedTopic) -> Iterator[TopicFinding]:
    """Check the replicas. The relay waits for all in-sync replicas (acks=all); min.insync.replicas
    is their smallest number.
    """
    found, needed = int(state.settings.get("min.insync.replicas") or 1), wanted.min_insync_replicas
    if found < needed:
        yield TopicFinding(
            TopicRefused(
                f"Topic {state.name} has min.insync.replicas={found}, and "
                f"kafka.min_insync_replicas requires {needed}.",
                remedy=(
                    f"Set min.insync.replicas={needed} on the topic, or lower "
                    "kafka.min_insync_replicas and accept that rows can be lost with a broker."
                ),
            )
        )
    elif found == 1:
        reason = (
            f"Topic {state.name} has min.insync.replicas=1: with acks=all a row counts as "
            f"published when one broker has it."
        )
        remedy = (
            "Set kafka.min_insync_replicas and the topic's min.insync.replicas to 2 or more, on "
            "three brokers or more."
        )
        yield TopicFinding(TopicRefused(reason, remedy=remedy), warning=True)
    yield from _replicas(state, wanted, max(found, needed))


def _replicas(state: TopicState, wanted: WantedTopic, in_sync: int) -> Iterator[TopicFinding]:
    replicas = state.replication_factor
    if replicas < in_sync:
        reason = (
            f"Topic {state.name} has {replicas} replicas and min.insync.replicas={in_sync}: no "
            f"write can succeed."
        )
        yield TopicFinding(
            TopicRefused(reason, remedy="Give the topic's partitions more replicas.")
        )
    elif replicas < wanted.replication_factor:
        reason = (
            f"Topic {state.name} has {replicas} replicas, and kafka.replication_factor requires "
            f"{wanted.replication_factor}."
        )
        yield TopicFinding(
            TopicRefused(reason, remedy="Give the topic's partitions more replicas."), warning=True
        )


def _message_size(state: TopicState, wanted: WantedTopic) -> Iterator[TopicFinding]:
    found = state.settings.get("max.message.bytes", "")
    if found.isdecimal() and int(found) < wanted.message_max_bytes:
        reason = (
            f"Topic {state.name} accepts messages of at most {found} bytes, and "
            f"kafka.message_max_bytes allows {wanted.message_max_bytes}."
        )
        remedy = (
            "Raise max.message.bytes of the topic to this value. Otherwise a row between the "
            "two sizes stops the instance."
        )
        yield TopicFinding(TopicRefused(reason, remedy=remedy), warning=True)

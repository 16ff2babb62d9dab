"""Topics of the rows: made on first use, checked, and their partition counts kept."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from relay.dead_letters import DeadLetterTopic
from relay.envelope import DDL_TOPIC_SUFFIX
from relay.errors import PartitionsChanged, StoreUnreachable, TopicRefused
from relay.kafka import (
    TopicAdmin,
    TopicSpec,
    TopicState,
    WantedTopic,
    accept,
    row_topic_findings,
    surplus_partitions,
    topic_limit,
)
from relay.model.records.position_record import PositionRecord
from relay.model.records.topic_placing import TopicPlacing
from relay.pipeline.delivery.message_size_limits import MessageSizes
from relay.pipeline.delivery.topic_feeders import TopicFeeders
from relay.settings import InstanceSettings, KafkaSettings

DEFAULT_PARTITIONS: Final = 1


class PublishedPartitioning(NamedTuple):
    """How published rows were partitioned, by topic.

    `partitions` are the partition counts, `rules` the digests of the partition rules; a topic of a
    record before format 5 has no digest.
    """

    partitions: Mapping[str, int]
    rules: Mapping[str, str]

    @classmethod
    def of(cls, record: PositionRecord | None) -> "PublishedPartitioning":
        """Return what a position record says; empty without one."""
        return cls({}, {}) if record is None else cls(record.partitions, record.placed_by)


class Topics:
    """Says how many partitions a topic's rows are placed by.

    `placed` is what the position record says, which the settings must not change.

    `sizes` gets what each topic takes when it is first asked for, and `in_use` the number of
    partitions that rows go to in all. `feeders` are the other instances that feed a topic.
    """

    def __init__(
        self,
        kafka: KafkaSettings,
        instance: InstanceSettings,
        placed: PublishedPartitioning,
        sizes: MessageSizes,
        feeders: TopicFeeders,
        *,
        in_use: Callable[[int], None],
    ) -> None:
        self.sizes = sizes
        self.counts = dict(placed.partitions)
        self.placed_by = dict(placed.rules)
        self._kafka = kafka
        self._instance = instance
        self._admin = TopicAdmin(kafka)
        self._feeders = feeders
        self._in_use = in_use
        self._rules = instance.placing_rules
        self._published = frozenset(placed.partitions)
        self._checked: set[str] = set()

    def partitions(self, topic: str) -> int:
        """The count that rows of this topic are placed by.

        The first call makes the topic, and the one of its DDL, where they are missing.

        Raises PartitionsChanged where it was another one, PartitionsDiffer where another instance
        has another one, TopicRefused, BrokerUnreachable, StoreUnreachable.
        """
        if topic not in self._checked:
            self._refuse_changed(topic)
            count = self._ensure(topic, self._wanted(topic))
            self._join(topic, TopicPlacing(count, self._rules))
            self.counts[topic], self.placed_by[topic] = count, self._rules.digest
            self._checked.add(topic)
            if (statements := ddl_topic(topic, self._instance)) is not None:
                self.ensure_single(statements)
            self._in_use(sum(self.counts.get(each, 0) for each in self._checked))
        return self.counts[topic]

    def ensure_single(self, topic: str) -> None:
        """Make a topic of one partition, as for DDL, if it is not there."""
        if topic not in self._checked:
            self._ensure(topic, 1)
            self._checked.add(topic)

    def look_again(self, found: Mapping[str, int]) -> None:
        """Warn of topics that have more partitions by now than rows are placed by.

        `found` are the counts of all topics.
        """
        accept(
            finding
            for topic, placed in list(self.counts.items())
            for finding in surplus_partitions(topic, found.get(topic, 0), placed)
        )

    def dead_letter_limit(self, letters: DeadLetterTopic) -> int:
        """Make the topic of the dead letters if it is not there, and return what it takes at
        once.
        """
        if letters.topic not in self._checked:
            limit = letters.ensure()
            self._checked.add(letters.topic)
            self.sizes.note(letters.topic, limit)
        return self.sizes.limits[letters.topic]

    def _wanted(self, topic: str) -> int | None:
        """The count to place by; None leaves it to the topic."""
        wanted = self._instance.partition.partitions_num or self.counts.get(topic)
        return wanted or self._feeders.partitions(topic)

    def _refuse_changed(self, topic: str) -> None:
        """Raise PartitionsChanged where rows of the topic were placed otherwise than the settings
        ask for now.
        """
        before = self.counts.get(topic)
        if before is None:
            return
        if changed := placing_changed(topic, before, self.placed_by.get(topic), self._instance):
            raise changed

    def _join(self, topic: str, placing: TopicPlacing) -> None:
        """Agree with the other instances that feed the topic.

        An outage of ZooKeeper does not keep one back that has agreed before.
        """
        try:
            self._feeders.join(topic, placing)
        except StoreUnreachable:
            if topic not in self._published:
                raise

    def _ensure(self, topic: str, partitions: int | None) -> int:
        wanted = wanted_topic(self._kafka, self._instance, partitions)
        state = self._admin.state(topic)
        if state is None:
            spec = new_topic(topic, wanted)
            self._refuse_if_gone(spec)
            self._admin.create(spec)
            state = self._admin.state(topic)
            self._note_size(topic, state)
            return spec.partitions
        accept(row_topic_findings(state, wanted, published=topic in self._published))
        self._note_size(topic, state)
        return partitions or state.partitions

    def _refuse_if_gone(self, spec: TopicSpec) -> None:
        """A topic that holds rows of this instance is never made anew as if nothing had been there.

        The broker is asked twice.
        """
        if spec.name in self._published and self._admin.create(spec, only_ask=True):
            raise TopicRefused(
                f"Topic {spec.name}, to which this instance has published, is gone, and its rows "
                f"with it.",
                remedy=(
                    f"Make it again with {spec.partitions} partitions, take new first copies of "
                    f"its tables, then start again."
                ),
            )

    def _note_size(self, topic: str, state: TopicState | None) -> None:
        """A topic that was made just now, and is not told of yet, takes what the client sends until
        a broker says otherwise.
        """
        largest = self._kafka.message_max_bytes
        self.sizes.note(
            topic, topic_limit(state.settings, largest) if state is not None else largest
        )


def wanted_topic(
    kafka: KafkaSettings, instance: InstanceSettings, partitions: int | None
) -> WantedTopic:
    """What the settings ask of a row topic that rows are placed in by `partitions`, None: by as
    many as there are.
    """
    return WantedTopic.of(kafka, partitions, instance.topic.retention)


def ddl_topic(topic: str, instance: InstanceSettings) -> str | None:
    """Return the topic of the DDL about rows of `topic`.

    None where DDL goes among the rows or nowhere.
    """
    return (
        topic + DDL_TOPIC_SUFFIX
        if instance.message.ddl == "topic" and "DDL" in instance.filter.operations
        else None
    )


def new_topic(name: str, wanted: WantedTopic) -> TopicSpec:
    """The form in which the relay makes a row topic that is not there."""
    return TopicSpec(
        name, wanted.partitions or DEFAULT_PARTITIONS, wanted.replication_factor, wanted.settings
    )


def placing_changed(
    topic: str, partitions: int, rules: str | None, instance: InstanceSettings
) -> PartitionsChanged | None:
    """Say whether the settings place rows of a topic otherwise than by `partitions` and rules of
    this digest (None: not noted).
    """
    wanted = instance.partition.partitions_num
    if wanted is not None and wanted != partitions:
        return PartitionsChanged(
            f"Rows of topic {topic} are placed by {partitions} partitions, and partitions_num is "
            f"{wanted}."
        )
    if rules is not None and rules != instance.placing_rules.digest:
        return PartitionsChanged(
            f"Rows of topic {topic} were placed by other rules than partition_hash, "
            f"database_hash and names say now."
        )
    return None

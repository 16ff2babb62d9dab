"""Creates and checks topics of rows at their first use, and caches their partition counts."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from relay.dead_letters import DeadLetterTopic
from relay.envelope import DDL_TOPIC_SUFFIX
from relay.errors import BrokerUnreachable, StoreUnreachable, TopicRefused
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
from relay.model.names.own_topics import reports_mixed, statements_mixed
from relay.model.records.hashed_forms import HashedForms
from relay.model.records.topic_partitioning import TopicPartitioning
from relay.model.table import TableId
from relay.pipeline.delivery.keys.key_forms import KeyForms, KeyHistory
from relay.pipeline.delivery.message_size_limits import MessageSizes
from relay.pipeline.delivery.saved_position import (
    PublishedPartitioning,
    noted_partitioning_changed,
    partitioning_changed,
)
from relay.pipeline.delivery.topic_feeders import TopicFeeders, TopicFormats
from relay.settings import InstanceSettings, KafkaSettings
from relay.state import HashedKey

DEFAULT_PARTITIONS: Final = 1


class Refusals(NamedTuple):
    """Functions that raise TopicRefused for a topic that must not have messages of the instance.

    left  called before the first row of this instance in a topic that has other instances
    own   called before the first use of a topic in a run
    """

    left: Callable[[str], None] = lambda _: None
    own: Callable[[str], None] = lambda _: None


_NOTHING_REFUSED: Final = Refusals()


class Topics:
    """Returns the partition count of each topic, and creates and checks the topic at its first use.

    placed   how rows were assigned to partitions before; the settings must not change that
    sizes    receives the size limit of each topic
    feeders  the other instances of a topic
    history  what this instance published before
    """

    def __init__(
        self,
        kafka: KafkaSettings,
        instance: InstanceSettings,
        placed: PublishedPartitioning,
        sizes: MessageSizes,
        feeders: TopicFeeders,
        history: KeyHistory,
        *,
        in_use: Callable[[int], None],
        refusals: Refusals = _NOTHING_REFUSED,
    ) -> None:
        """`in_use` is called with the total number of partitions that rows go to."""
        self.sizes = sizes
        self.counts = dict(placed.partitions)
        self.placed_by = dict(placed.rules)
        self._key_forms = KeyForms(
            placed, feeders.key_agreements(instance.partitioning_rules.digest), history
        )
        self._formats = TopicFormats(placed.formats, instance, feeders)
        self._kafka = kafka
        self._instance = instance
        self._admin = TopicAdmin(kafka)
        self._feeders = feeders
        self._in_use = in_use
        self._refusals = refusals
        self._rules = instance.partitioning_rules
        self._published = frozenset(placed.partitions)
        self._row_topics: set[str] = set()
        self._single_topics: set[str] = set()

    @property
    def hashed_forms(self) -> HashedForms:
        """The text forms in which keys are hashed to partitions, by topic and table."""
        return self._key_forms.known

    @property
    def formats(self) -> Mapping[str, str]:
        """Topic → format of its messages."""
        return self._formats.known

    def partitions(self, topic: str) -> int:
        """Return the number of partitions to which rows of this topic are assigned.

        The first call creates the topic, and its DDL topic, if they are missing. Raises
        PartitionsChanged or FormatChanged if the settings differ from before, PartitionsDiffer or
        FormatsDiffer if another instance differs, TopicRefused (also for a topic of the relay's
        own records, of reports or of statements), BrokerUnreachable, StoreUnreachable.
        """
        if topic not in self._row_topics:
            self._refuse_mixed(topic)
            self._formats.refuse_changed(topic)
            self._refuse_changed(topic)
            statements = ddl_topic(topic, self._instance)
            if statements is not None:
                self._formats.join_statements(topic)
            count = self._ensure(topic, self._wanted(topic))
            self._join(topic, TopicPartitioning(count, self._rules))
            is_first_row = topic not in self._published
            if is_first_row and self._instance.topic.move_markers and self._feeders.others(topic):
                with self._feeders.leaving(topic):
                    self._refusals.left(topic)
            self.counts[topic], self.placed_by[topic] = count, self._rules.digest
            self._formats.keep(topic)
            if statements is not None:
                self.ensure_single(statements)
            self._row_topics.add(topic)
            self._in_use(sum(self.counts[each] for each in self._row_topics))
        return self.counts[topic]

    def keep_key_forms(
        self, topic: str, table: TableId, form: str, shard: TableId | None = None
    ) -> None:
        """Record the text form in which the keys of a logical table are hashed in a topic; no
        effect if `form` is "".

        `shard` is the real table, if keys name it. Raises the errors of `KeyForms.keep`.
        """
        if form:
            self._key_forms.keep(HashedKey(topic, table, form, shard))

    def cluster_counts(self) -> Mapping[str, int]:
        """Return the number of partitions of every topic in Kafka. Raises BrokerUnreachable."""
        return self._admin.partition_counts()

    def existing(self, topics: Iterable[str]) -> frozenset[str]:
        """Return those of the given topics that Kafka has now. Raises BrokerUnreachable."""
        return frozenset(topics) & self.cluster_counts().keys()

    def is_compacted(self, topic: str) -> bool:
        """Return whether a topic of rows, and its DDL topic, keep only the last record
        of each key.
        """
        return self._instance.topic.retention_of(topic) == "compact"

    def ensure_single(self, topic: str) -> None:
        """Create a topic with one partition, such as a DDL topic, if it is missing.

        Raises FormatChanged or FormatsDiffer if it is a DDL topic with another format, and
        TopicRefused if it has the relay's own records, or rows.
        """
        if topic in self._row_topics:
            raise statements_mixed(topic)
        if topic not in self._single_topics:
            self._refusals.own(topic)
            self._formats.keep_of_statements(topic)
            self._ensure(topic, 1)
            self._single_topics.add(topic)

    def warn_of_surplus(self, found: Mapping[str, int]) -> None:
        """Warn of topics that have more partitions than rows are assigned to.

        `found` are the partition counts of all topics in Kafka.
        """
        accept(
            finding
            for topic, placed in list(self.counts.items())
            for finding in surplus_partitions(topic, found.get(topic, 0), placed)
        )

    def dead_letter_limit(self, letters: DeadLetterTopic) -> int:
        """Create the dead letter topic if it is missing, and return its largest batch in bytes."""
        if letters.topic not in self._single_topics:
            limit = letters.ensure()
            self._single_topics.add(letters.topic)
            self.sizes.note(letters.topic, limit)
        return self.sizes.limits[letters.topic]

    def _wanted(self, topic: str) -> int | None:
        """The wanted partition count; None: that of the topic."""
        wanted = self._instance.partitions_of(topic) or self.counts.get(topic)
        return wanted or self._feeders.partitions(topic)

    def _refuse_mixed(self, topic: str) -> None:
        """Raise TopicRefused for rows in a topic of the relay's own records, of transactions, of
        heartbeats or of statements.
        """
        self._refusals.own(topic)
        if topic in self._instance.report_topics:
            raise reports_mixed(topic)
        if topic in self._single_topics:
            raise statements_mixed(topic)

    def _refuse_changed(self, topic: str) -> None:
        """Raise PartitionsChanged if rows of the topic were placed otherwise than the settings
        ask for now: by the record, or by the agreement if the record does not name the topic.
        """
        before = self.counts.get(topic)
        if before is not None:
            rules = self.placed_by.get(topic)
            changed = partitioning_changed(topic, before, rules, self._instance)
        elif (noted := self._feeders.own(topic)) is not None:
            changed = noted_partitioning_changed(topic, noted.partitioning, self._instance)
        else:
            return
        if changed is not None:
            raise changed

    def _join(self, topic: str, partitioning: TopicPartitioning) -> None:
        """Agree with the other instances that feed the topic.

        An outage of ZooKeeper does not keep one back that has agreed before.
        """
        try:
            self._feeders.join(topic, partitioning, self._instance.format_of(topic))
        except StoreUnreachable:
            if topic not in self._published:
                raise

    def _ensure(self, topic: str, partitions: int | None) -> int:
        wanted = wanted_topic(self._kafka, self._instance, topic, partitions)
        state = self._admin.state(topic)
        if state is None:
            spec = new_topic(topic, wanted)
            self._refuse_if_gone(spec)
            created = self._admin.create(spec)
            state = self._admin.state(topic)
            if created:
                self._note_size(topic, state)
                return spec.partitions
        if state is None:
            raise BrokerUnreachable(f"One broker has topic {topic}, and another one has not.")
        accept(row_topic_findings(state, wanted, published=topic in self._published))
        self._note_size(topic, state)
        return partitions or state.partitions

    def _refuse_if_gone(self, spec: TopicSpec) -> None:
        """Refuse to create a topic again that held rows of this instance.

        The broker is asked twice.
        """
        if spec.name in self._published and self._admin.create(spec, only_ask=True):
            raise TopicRefused(
                f"Topic {spec.name}, to which this instance has published, was deleted with its "
                f"rows.",
                remedy=(
                    f"Create it again with {spec.partitions} partitions, make new first copies "
                    "of its tables, then start again."
                ),
            )

    def _note_size(self, topic: str, state: TopicState | None) -> None:
        """Record a topic's size limit.

        A new topic that the brokers do not show yet accepts the client's sizes until a broker
        refuses one.
        """
        largest = self._kafka.message_max_bytes
        self.sizes.note(
            topic, topic_limit(state.settings, largest) if state is not None else largest
        )


def wanted_topic(
    kafka: KafkaSettings, instance: InstanceSettings, topic: str, partitions: int | None
) -> WantedTopic:
    """Return the properties that a topic of rows must have according to the settings.

    `partitions` is the number of partitions to which its rows are assigned; None: every partition
    of the topic.
    """
    return WantedTopic.of(kafka, partitions, instance.topic.retention_of(topic))


def ddl_topic(topic: str, instance: InstanceSettings) -> str | None:
    """Return the topic that receives DDL about the tables of `topic`; None if DDL has no separate
    topic or is not published.
    """
    return (
        topic + DDL_TOPIC_SUFFIX
        if instance.message.ddl == "topic" and "DDL" in instance.filter.operations
        else None
    )


def new_topic(name: str, wanted: WantedTopic) -> TopicSpec:
    """Return the settings with which the relay creates the topic `name`, if it is missing."""
    return TopicSpec(
        name, wanted.partitions or DEFAULT_PARTITIONS, wanted.replication_factor, wanted.settings
    )

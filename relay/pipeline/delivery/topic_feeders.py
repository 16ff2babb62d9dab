"""The instances that publish to a topic ("feed" it). An instance publishes to a topic only if all
of them assign rows to partitions by the same rules.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from relay.envelope import DDL_TOPIC_SUFFIX
from relay.errors import FormatsDiffer, PartitionsDiffer, StoreUnreachable, TopicRefused
from relay.model.records.topic_partitioning import (
    Feeder,
    PartitioningRules,
    TopicAgreement,
    TopicPartitioning,
)
from relay.pipeline.delivery.saved_position import format_changed
from relay.settings import InstanceSettings
from relay.state import InstanceStore, KeyAgreements, statements_of

_ONE_PARTITION: Final = TopicPartitioning(1, PartitioningRules("", False, ""))
"""Statements are in one partition, so partition rules do not count."""


class TopicFeeders:
    """Reads and writes the agreement of a topic in ZooKeeper: how its instances assign rows to
    partitions, and which format they use.

    The methods write only what this instance uses.
    """

    def __init__(self, notes: InstanceStore, instance: str) -> None:
        self._store = notes.topics
        self._key_forms = notes.key_forms
        self._instance = instance

    def key_agreements(self, rules: str) -> KeyAgreements:
        """Return the agreements on the text forms of keys, for partition rules with this digest."""
        return KeyAgreements(self._key_forms, rules)

    def partitions(self, topic: str) -> int | None:
        """Return the partition count by which the instances of a topic assign its rows.

        None if no instance has joined the topic, or ZooKeeper does not answer.
        """
        try:
            feeders = self._store.read(topic).feeders
        except StoreUnreachable:
            return None
        return next(
            (each.partitioning.partitions for each in feeders.values() if each.joined), None
        )

    def names(self, topic: str) -> tuple[str, ...]:
        """Return the instances that publish to a topic, sorted. Raises StoreUnreachable."""
        feeders = self._store.read(topic).feeders
        return tuple(sorted(name for name, each in feeders.items() if each.joined))

    def others(self, topic: str) -> tuple[str, ...]:
        """Return the other instances that publish to a topic. Raises StoreUnreachable."""
        return tuple(each for each in self.names(topic) if each != self._instance)

    def topics(self) -> tuple[str, ...]:
        """Return the topics to which any instance ever published rows. Raises StoreUnreachable."""
        return self._store.topics()

    @contextmanager
    def leaving(self, topic: str) -> Iterator[None]:
        """Context manager: remove this instance from the topic's instances if the block raises
        TopicRefused.

        This instance then stops without a row in the topic, and must not keep other instances from
        using it. Raises StoreUnreachable.
        """
        try:
            yield
        except TopicRefused:
            self._store.change(topic, lambda before: before.without_feeders((self._instance,)))
            raise

    def own(self, topic: str) -> Feeder | None:
        """Return how this instance publishes rows to a topic, according to ZooKeeper.

        None if it does not publish there. Raises StoreUnreachable.
        """
        return self._store.read(topic).own(self._instance)

    def own_format(self, topic: str) -> str | None:
        """Return the format in which this instance publishes rows, or statements, to a topic.

        None if ZooKeeper does not have it. Raises StoreUnreachable.
        """
        for name in (topic, statements_of(topic)):
            found = self.own(name)
            if found is not None and found.format:
                return found.format
        return None

    def others_with_format(self, topic: str, message_format: str) -> dict[str, str]:
        """Return the other instances whose known format in this topic differs: instance name →
        format.

        Raises StoreUnreachable.
        """
        return self._store.read(topic).differing_formats(self._instance, message_format)

    def join(self, topic: str, partitioning: TopicPartitioning, message_format: str) -> None:
        """Record that this instance publishes rows to a topic.

        topic           name of the topic
        partitioning    how this instance assigns the rows to partitions
        message_format  the format of its messages

        Raises PartitionsDiffer if another instance of the topic assigns rows differently,
        FormatsDiffer if another instance uses another format, and StoreUnreachable.
        """
        agreement = self._store.change(
            topic, lambda before: before.with_feeder(self._instance, partitioning, message_format)
        )
        others = agreement.differing_formats(self._instance, message_format)
        if unlike := formats_differ(topic, message_format, others):
            raise unlike
        if error := partitions_differ(
            topic, partitioning, agreement.differing(self._instance, partitioning)
        ):
            raise error

    def join_statements(self, topic: str, message_format: str) -> None:
        """Record the format of this instance's statements (DDL) about rows of a topic.

        Raises FormatsDiffer if another instance publishes statements there in another format, and
        StoreUnreachable.
        """
        agreement = self._store.change(
            statements_of(topic),
            lambda before: before.with_feeder(self._instance, _ONE_PARTITION, message_format),
        )
        others = agreement.differing_formats(self._instance, message_format)
        if unlike := formats_differ(topic + DDL_TOPIC_SUFFIX, message_format, others):
            raise unlike

    def note_statements(self, formats: Mapping[str, str]) -> None:
        """Record the formats of statements that this instance published to topics without rows:
        topic → format.

        An instance that later uses another format for such a topic is then refused. Raises
        StoreUnreachable.
        """
        for topic, message_format in formats.items():
            with suppress(FormatsDiffer):  # the first statement stops the instance
                self.join_statements(topic, message_format)

    def note_formats(self, formats: Mapping[str, str]) -> None:
        """Write the formats of this instance's messages, topic → format, to documents in ZooKeeper
        that an older relay wrote without them.

        Raises StoreUnreachable.
        """
        for topic, agreement in self._store.read_all(tuple(formats)).items():

            def noted(before: TopicAgreement, of: str = formats[topic]) -> TopicAgreement:
                return before.with_format(self._instance, of)

            if noted(agreement) != agreement:
                self._store.change(topic, noted)


class TopicFormats:
    """The message format of each topic of rows.

    `known` maps topics to the formats in the position record. It is empty if the record was lost,
    or if an older version of the relay wrote it, which recorded no formats.
    """

    def __init__(
        self, known: Mapping[str, str], instance: InstanceSettings, feeders: TopicFeeders
    ) -> None:
        self.known = dict(known)
        self._instance = instance
        self._feeders = feeders
        self._statements: set[str] = set()

    def refuse_changed(self, topic: str) -> None:
        """Raise FormatChanged if the settings give a topic another format than its messages have.

        For a topic that the position record does not name, the format is read from ZooKeeper, which
        can raise StoreUnreachable.
        """
        wanted = self._instance.format_of(topic)
        before = self.known.get(topic) or self._feeders.own_format(topic)
        if changed := format_changed(topic, before, wanted):
            raise changed

    def keep(self, topic: str) -> None:
        """Record that the topic has the format of the settings. Call it after all instances of the
        topic agree.
        """
        self.known[topic] = self._instance.format_of(topic)

    def keep_of_statements(self, topic: str) -> None:
        """Agree with the other instances on the format of a topic of statements, and record it.
        That format is the format of the topic with the rows.

        Raises FormatChanged, FormatsDiffer, and StoreUnreachable if this instance has not published
        there before.
        """
        if topic in self._instance.report_topics:
            return
        rows = topic.removesuffix(DDL_TOPIC_SUFFIX)
        self.refuse_changed(rows)
        self.join_statements(rows)
        self.keep(rows)

    def join_statements(self, rows: str) -> None:
        """Agree with the other instances on the format of statements about rows of the topic
        `rows`.

        Raises FormatsDiffer, and StoreUnreachable if this instance has not published there before.
        """
        if rows in self._statements:
            return
        wanted, is_known = self._instance.format_of(rows), rows in self.known
        try:
            if not is_known:
                others = self._feeders.others_with_format(rows, wanted)
                if mixed := formats_differ(rows, wanted, others):
                    raise mixed
            self._feeders.join_statements(rows, wanted)
        except StoreUnreachable:
            if not is_known:
                raise
            return
        self._statements.add(rows)


def partitions_differ(
    topic: str, partitioning: TopicPartitioning, others: dict[str, TopicPartitioning]
) -> PartitionsDiffer | None:
    """Return an error if other instances assign the rows of a topic differently; None if `others`
    is empty.

    topic         name of the topic
    partitioning  how this instance assigns them
    others        the other instances that assign them differently; the error names one
    """
    for name, other in others.items():
        return PartitionsDiffer(
            f"Instance {name} assigns rows of topic {topic} to partitions by {other}; this "
            f"instance by {partitioning}."
        )
    return None


def formats_differ(
    topic: str, message_format: str, others: Mapping[str, str]
) -> FormatsDiffer | None:
    """Return an error if other instances use another format in a topic; None if `others` is empty.

    topic           name of the topic
    message_format  the format of this instance
    others          the other instances with another format; the error names one
    """
    for name, other in others.items():
        return FormatsDiffer(
            f"Instance {name} publishes to topic {topic} as {other}; this instance as "
            f"{message_format}."
        )
    return None

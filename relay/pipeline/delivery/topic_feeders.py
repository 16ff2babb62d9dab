"""The other instances that feed a topic: an instance publishes there only while all of them
assign rows alike.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple, Protocol

from relay.envelope import DDL_TOPIC_SUFFIX
from relay.errors import (
    FormatsDiffer,
    PartitionsChanged,
    PartitionsDiffer,
    StoreUnreachable,
    TopicRefused,
)
from relay.model.records.hashed_forms import admitted, agreed, differing, has_form, is_plain
from relay.model.records.topic_placing import TopicAgreement, TopicPlacing
from relay.model.table import TableId
from relay.pipeline.delivery.saved_position import PublishedPartitioning, format_changed
from relay.settings import InstanceSettings
from relay.state import InstanceStore


class HashedKey(NamedTuple):
    """In which form the keys of a logical table are hashed in a topic.

    `shard` is the real table, if keys name it. Keys of other real tables are then others.
    """

    topic: str
    table: TableId
    form: str
    shard: TableId | None


class KeyHistory(Protocol):
    """What an instance published before its session."""

    def had_rows(self, key: HashedKey) -> bool:
        """Return whether it has published rows of a table to a topic."""

    def warn(self, key: HashedKey, others: tuple[str, ...]) -> None:
        """Report that equal keys are in other partitions, since before instances were compared."""


class TopicFeeders:
    """One instance's part in the agreements."""

    def __init__(self, notes: InstanceStore, instance: str) -> None:
        self._store = notes.topics
        self._forms = notes.key_forms
        self._instance = instance

    def partitions(self, topic: str) -> int | None:
        """Return the partition count by which the other instances assign rows of the topic.

        None if there are no others, or ZooKeeper does not answer.
        """
        try:
            feeders = self._store.read(topic).feeders
        except StoreUnreachable:
            return None
        return next((each.placing.partitions for each in feeders.values() if each.joined), None)

    def names(self, topic: str) -> tuple[str, ...]:
        """Return the instances that publish to a topic, sorted. Raises StoreUnreachable."""
        feeders = self._store.read(topic).feeders
        return tuple(sorted(name for name, each in feeders.items() if each.joined))

    def others(self, topic: str) -> tuple[str, ...]:
        """Return the other instances that publish to a topic. Raises StoreUnreachable."""
        return tuple(each for each in self.names(topic) if each != self._instance)

    def topics(self) -> tuple[str, ...]:
        """Return the topics that any instance ever fed. Raises StoreUnreachable."""
        return self._store.topics()

    @contextmanager
    def leaving(self, topic: str) -> Iterator[None]:
        """Leave a topic if the block refuses it: no other instance waits for a stopped one that has
        no row there. Raises StoreUnreachable.
        """
        try:
            yield
        except TopicRefused:
            self._store.change(topic, lambda before: before.without_feeders((self._instance,)))
            raise

    def others_with_format(self, topic: str, message_format: str) -> dict[str, str]:
        """Return the other instances that publish to a topic in another format, which is known.

        Raises StoreUnreachable.
        """
        return self._store.read(topic).differing_formats(self._instance, message_format)

    def join(self, topic: str, placing: TopicPlacing, message_format: str) -> None:
        """Record how this instance assigns rows of the topic, and the format of its messages.

        Raises PartitionsDiffer or FormatsDiffer if another one does it differently,
        StoreUnreachable.
        """
        agreement = self._store.change(
            topic, lambda before: before.with_feeder(self._instance, placing, message_format)
        )
        others = agreement.differing_formats(self._instance, message_format)
        if unlike := formats_differ(topic, message_format, others):
            raise unlike
        if error := partitions_differ(topic, placing, agreement.differing(self._instance, placing)):
            raise error

    def note_formats(self, formats: Mapping[str, str]) -> None:
        """Note the format of this instance's messages in topics where an older relay has joined
        for it. Raises StoreUnreachable.
        """
        for topic, agreement in self._store.read_all(tuple(formats)).items():

            def noted(before: TopicAgreement, of: str = formats[topic]) -> TopicAgreement:
                return before.with_format(self._instance, of)

            if noted(agreement) != agreement:
                self._store.change(topic, noted)

    def differing_forms(self, key: HashedKey, rules: str, own: tuple[str, ...]) -> tuple[str, ...]:
        """Note that this instance publishes keys of a table in a form, by the partition rules of
        this digest; `own` are the forms that it has published or that an operator accepted for it.

        Returns the forms of the topic if equal keys are in other partitions there and nobody
        accepted that; nothing is noted then. Raises StoreUnreachable.
        """
        at = (key.topic, str(key.table), rules)
        shard = "" if key.shard is None else str(key.shard)
        if key.form in self._forms.read(*at, shard):
            return ()
        found: list[tuple[str, ...]] = []

        def change(known: tuple[str, ...]) -> tuple[str, ...] | None:
            found.append(differing(known, key.form))
            return agreed(known, own, key.form)

        is_agreed = self._forms.change(*at, change, shard) is not None
        return () if is_agreed else found[-1]


class KeyForms:
    """The forms in which this instance hashes keys, compared with those of all instances of a
    topic. `known` are those of the position record.
    """

    def __init__(
        self, saved: PublishedPartitioning, rules: str, feeders: TopicFeeders, history: KeyHistory
    ) -> None:
        self.known = self._saved = saved.forms
        self._published = frozenset(saved.partitions)
        self._rules = rules
        self._feeders = feeders
        self._history = history
        self._agreed: set[HashedKey] = set()

    def keep(self, key: HashedKey) -> None:
        """Note the form of a key.

        Raises PartitionsChanged if equal keys were hashed in another form, by this instance or by
        another one, StoreUnreachable.
        """
        tables = self.known.get(key.topic, {})
        known = tables.get(str(key.table), ())
        # Most keys are numbers: the record, which each commit writes, has the other ones alone.
        forms = admitted(known, key.form) if known or not is_plain(key.form) else known
        if forms is None:
            raise keys_move(key, known)
        self._agree(key, forms)
        if forms != known:
            self.known = {**self.known, key.topic: {**tables, str(key.table): forms}}

    def _agree(self, key: HashedKey, own: tuple[str, ...]) -> None:
        """Compare a form with those of all instances of the topic, once in a session.

        While ZooKeeper does not answer, rows of a topic that has some continue.
        """
        if key in self._agreed:
            return
        try:
            while others := self._feeders.differing_forms(key, self._rules, own):
                if not self._was_published(key):
                    raise keys_move(key, others)
                self._history.warn(key, others)
                own = (*own, *others)
        except StoreUnreachable:
            if key.topic not in self._published:
                raise
            return
        self._agreed.add(key)

    def _was_published(self, key: HashedKey) -> bool:
        """Return whether rows of this form were published before the session began.

        The record lacks the forms of plain keys, and has one list for all real tables.
        """
        if key.topic not in self._published:
            return False
        saved = self._saved.get(key.topic, {}).get(str(key.table), ())
        if not has_form(saved, key.form) if saved else not is_plain(key.form):
            return False
        return (bool(saved) and key.shard is None) or self._history.had_rows(key)


class TopicFormats:
    """Formats by topic of rows. `known` are those of the position record, empty where only an older
    relay published.
    """

    def __init__(
        self, known: Mapping[str, str], instance: InstanceSettings, feeders: TopicFeeders
    ) -> None:
        self.known = dict(known)
        self._instance = instance
        self._feeders = feeders

    def refuse_changed(self, topic: str) -> None:
        """Raise FormatChanged if the settings give a topic another format than it has."""
        wanted = self._instance.format_of(topic)
        if changed := format_changed(topic, self.known.get(topic), wanted):
            raise changed

    def keep(self, topic: str) -> None:
        """Note the format of a topic, on which all its instances agree."""
        self.known[topic] = self._instance.format_of(topic)

    def keep_of_statements(self, topic: str) -> None:
        """Note the format of a topic of statements, which is that of its topic of rows.

        Raises FormatChanged, FormatsDiffer, and StoreUnreachable before its first message.
        """
        if topic in self._instance.report_topics:
            return
        rows = topic.removesuffix(DDL_TOPIC_SUFFIX)
        self.refuse_changed(rows)
        if rows not in self.known:
            wanted = self._instance.format_of(rows)
            others = self._feeders.others_with_format(rows, wanted)
            if mixed := formats_differ(rows, wanted, others):
                raise mixed
            self.known[rows] = wanted


def partitions_differ(
    topic: str, placing: TopicPlacing, others: dict[str, TopicPlacing]
) -> PartitionsDiffer | None:
    """Return an error that names another instance with a different assignment of a topic's rows."""
    for name, other in others.items():
        return PartitionsDiffer(
            f"Instance {name} places rows of topic {topic} by {other}; this instance by {placing}."
        )
    return None


def keys_move(key: HashedKey, known: tuple[str, ...]) -> PartitionsChanged:
    """Say that a change of a table would give its keys other partitions."""
    return PartitionsChanged(
        f"Keys of {key.table} were hashed for topic {key.topic} as {' | '.join(known)}, and a row "
        f"with keys as {key.form} follows: equal keys would get other partitions.",
        remedy=(
            "A key column has another type or character set, here, in another shard or in another "
            "instance of the topic. If "
            "consumers of the topic compare the order key: `roma position repartition INSTANCE "
            f"--topic {key.topic} --table {key.table}` accepts it. Otherwise map the table to a "
            "new topic and copy it."
        ),
    )


def formats_differ(
    topic: str, message_format: str, others: Mapping[str, str]
) -> FormatsDiffer | None:
    """Return an error that names another instance with another format of a topic's messages."""
    for name, other in others.items():
        return FormatsDiffer(
            f"Instance {name} publishes to topic {topic} as {other}; this instance as "
            f"{message_format}."
        )
    return None

"""Topics of the rows: made on first use, checked, and their partition counts kept."""

from collections.abc import Callable, Mapping
from typing import Final

from relay.dead_letters import DeadLetterTopic
from relay.errors import TopicRefused
from relay.kafka import TopicAdmin, TopicSpec, TopicState, WantedTopic, accept, row_topic_findings, surplus_partitions, topic_limit
from relay.pipeline.message_sizes import MessageSizes
from relay.settings import InstanceSettings, KafkaSettings

DEFAULT_PARTITIONS: Final = 1


class Topics:
    """Answers how many partitions a topic is placed by; `kept` are the counts of the position record, which win.

    `sizes` learns what each topic takes when it is first asked for; `in_use` is told then how many partitions rows go to in all.
    """

    def __init__(
        self, kafka: KafkaSettings, instance: InstanceSettings, kept: dict[str, int], sizes: MessageSizes, *, in_use: Callable[[int], None]
    ) -> None:
        self.sizes = sizes
        self._kafka = kafka
        self._instance = instance
        self._admin = TopicAdmin(kafka)
        self._in_use = in_use
        self.counts = dict(kept)
        self._published = frozenset(kept)
        self._checked: set[str] = set()

    def partitions(self, topic: str) -> int:
        """The count that rows of this topic are placed by. Raises TopicRefused, BrokerUnreachable."""
        if topic not in self._checked:
            wanted = self._instance.partition.partitions_num or self.counts.get(topic)
            self.counts[topic] = self._ensure(topic, wanted)
            self._checked.add(topic)
            self._in_use(sum(self.counts.get(each, 0) for each in self._checked))
        return self.counts[topic]

    def ensure_single(self, topic: str) -> None:
        """Make a topic of one partition, as for DDL, if it is not there."""
        if topic not in self._checked:
            self._ensure(topic, 1)
            self._checked.add(topic)

    def look_again(self, found: Mapping[str, int]) -> None:
        """Warn of topics that have more partitions by now than rows are placed by; `found` are the counts of all topics."""
        accept(finding for topic, placed in list(self.counts.items()) for finding in surplus_partitions(topic, found.get(topic, 0), placed))

    def dead_letter_limit(self, letters: DeadLetterTopic) -> int:
        """Make the topic of the dead letters if it is not there, and return what it takes at once."""
        if letters.topic not in self._checked:
            limit = letters.ensure()
            self._checked.add(letters.topic)
            self.sizes.note(letters.topic, limit)
        return self.sizes.limits[letters.topic]

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
        accept(row_topic_findings(state, wanted))
        self._note_size(topic, state)
        return partitions or state.partitions

    def _refuse_if_gone(self, spec: TopicSpec) -> None:
        """A topic that holds rows of this instance is never made anew as if nothing had been there; the broker is asked twice."""
        if spec.name in self._published and self._admin.create(spec, only_ask=True):
            raise TopicRefused(
                f"Topic {spec.name}, to which this instance has published, is gone, and its rows with it.",
                remedy=f"Make it again with {spec.partitions} partitions, take new first copies of its tables, then start again.",
            )

    def _note_size(self, topic: str, state: TopicState | None) -> None:
        """A topic that was made just now, and is not told of yet, takes what the client sends until a broker says otherwise."""
        largest = self._kafka.message_max_bytes
        self.sizes.note(topic, topic_limit(state.settings, largest) if state is not None else largest)


def wanted_topic(kafka: KafkaSettings, instance: InstanceSettings, partitions: int | None) -> WantedTopic:
    """What the settings ask of a row topic that rows are placed in by `partitions`, None: by as many as there are."""
    return WantedTopic.of(kafka, partitions, instance.topic.retention)


def new_topic(name: str, wanted: WantedTopic) -> TopicSpec:
    """The form in which the relay makes a row topic that is not there."""
    return TopicSpec(name, wanted.partitions or DEFAULT_PARTITIONS, wanted.replication_factor, wanted.settings)

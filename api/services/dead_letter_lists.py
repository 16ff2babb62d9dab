"""The dead letters of all instances."""

from collections.abc import Callable
from dataclasses import dataclass

from api.models.dead_letter import DeadLetterView, ListedLetterView, OneLetterView
from api.services.instance_directory import InstanceDirectory
from relay.dead_letters import DeadLetterTopic, later_changes
from relay.kafka import TopicAdmin, topic_limit
from relay.settings import KafkaSettings


@dataclass(frozen=True, slots=True)
class DeadLetterLists:
    """Reads the dead letters of one instance after another."""

    directory: InstanceDirectory
    topic: Callable[[str], DeadLetterTopic]
    kafka: KafkaSettings

    def one(self, instance: str, letter: str) -> OneLetterView:
        """Return a dead letter, with the current limits of its topic and later changes of its key.

        Raises DeadLetterUnknown, DeadLetterDamaged, Unreachable, NodeMissing, KafkaNotPermitted.
        """
        listed = self.topic(instance).letter(letter)
        state = TopicAdmin(self.kafka).state(listed.letter.message.topic)
        limit = None if state is None else topic_limit(state.settings, self.kafka.message_max_bytes)
        later = None if state is None else later_changes(self.kafka, listed.letter)
        return OneLetterView.now(listed, limit, later)

    def listed(self, instance: str = "") -> list[ListedLetterView]:
        """Return all dead letters, the newest first, or those of one instance.

        Raises DeadLettersUnreadable, DeadLetterDamaged, Unreachable, NodeMissing.
        """
        names = [instance] if instance else [each.name for each in self.directory.instances()]
        found = [
            ListedLetterView(instance=name, **DeadLetterView.of(each).model_dump())
            for name in names
            for each in self.topic(name).letters()
        ]
        return sorted(found, key=lambda each: -each.written_ms)

"""Reads the dead letters of all instances, without what the caller may not see."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from api.models.dead_letter import (
    DeadLetterView,
    LetterRowsView,
    ListedLetterView,
    OneLetterView,
)
from api.services.instance_directory import InstanceDirectory
from relay.dead_letters import DeadLetterTopic, ListedDeadLetter, later_changes
from relay.kafka import TopicAdmin, topic_limit
from relay.operations import LetterMasks, LetterRows, PeekTables, key_is_hidden
from relay.settings import KafkaSettings

SHOWN_ROWS: Final = 50
"""Rows of a message in one answer, unless the caller requests another number."""


class ShownLetter(NamedTuple):
    """A dead letter for a page.

    stored  the dead letter as it is stored in its topic
    view    the form in which the API returns it
    rows    its rows
    """

    stored: ListedDeadLetter
    view: OneLetterView
    rows: LetterRowsView


@dataclass(frozen=True, slots=True)
class DeadLetterLists:
    """Reads the dead letters of one instance after another.

    directory  lists the instances
    topic      returns the reader of an instance's dead letters
    kafka      how to connect to Kafka
    tables     returns the logical tables, and which of their columns and rows are hidden

    The methods have a parameter `values`: True if the reader may see keys and values of rows. No
    reader sees what masks and rules hide.
    """

    directory: InstanceDirectory
    topic: Callable[[str], DeadLetterTopic]
    kafka: KafkaSettings
    tables: Callable[[], PeekTables]

    def one(self, instance: str, letter: str, *, values: bool) -> OneLetterView:
        """Return a dead letter, with the current size limit of its topic and the newer changes of
        its key.

        instance  name of the instance that wrote it
        letter    id of the dead letter
        values    True if the reader may see keys and values of rows

        Raises DeadLetterUnknown, DeadLetterDamaged, Unreachable, NodeMissing, KafkaNotPermitted.
        """
        listed = self._stored(instance, letter)
        return self._one(listed, key_hidden=self._hides_key(instance, listed, values=values))

    def head(self, instance: str, letter: str, *, values: bool) -> DeadLetterView:
        """Return a dead letter with the fields that lists show.

        The parameters and the errors are those of `one`.
        """
        listed = self._stored(instance, letter)
        hides = self._hides_key(instance, listed, values=values)
        return DeadLetterView.of(listed, key_hidden=hides)

    def rows(self, instance: str, letter: str, numbers: slice, *, values: bool) -> LetterRowsView:
        """Return rows of a dead letter, column by column. Raises the errors of `one`.

        instance  name of the instance
        letter    id of the dead letter
        numbers   numbers of the rows within its message
        values    True if the reader may see keys and values of rows
        """
        found = self._masks(instance).rows(self._stored(instance, letter).letter, numbers)
        return LetterRowsView.of(_seen(found, values=values))

    def value(self, instance: str, letter: str) -> bytes:
        """Return the value of a dead letter's message, byte for byte.

        Raises ValueHidden if a mask or a rule hides a part of it, and the errors of `one`.
        """
        found = self._stored(instance, letter).letter
        self._masks(instance).check_value(found)
        return found.message.value or b""

    def shown(self, instance: str, letter: str, first: int, *, values: bool) -> ShownLetter:
        """Return a dead letter with its rows from the number `first` on; the topic is read once.

        The other parameters and the errors are those of `one`.
        """
        listed = self._stored(instance, letter)
        rows = self._masks(instance).rows(listed.letter, slice(first, first + SHOWN_ROWS))
        view = self._one(listed, key_hidden=not values or key_is_hidden(rows))
        return ShownLetter(listed, view, LetterRowsView.of(_seen(rows, values=values)))

    def listed(self, instance: str = "", *, values: bool) -> list[ListedLetterView]:
        """Return the dead letters of one instance, or of all if `instance` is empty: the damaged
        ones, then the others, the newest first.

        Raises DeadLettersUnreadable, Unreachable, NodeMissing.
        """
        names = [instance] if instance else [each.name for each in self.directory.instances()]
        return newest_first(
            ListedLetterView(instance=name, **each.model_dump())
            for name in names
            for each in self.of_instance(name, values=values)
        )

    def of_instance(self, instance: str, *, values: bool) -> list[DeadLetterView]:
        """Return the dead letters of one instance, the oldest first; the damaged ones come last.

        Raises DeadLettersUnreadable, Unreachable, NodeMissing.
        """
        self.directory.instance(instance)
        return self.of_known(instance, values=values)

    def of_known(self, instance: str, *, values: bool) -> list[DeadLetterView]:
        """Return the same as `of_instance`, for an instance that is known to exist.

        ZooKeeper is needed only for the masks: while it does not answer, keys are hidden. Raises
        DeadLettersUnreadable, BrokerUnreachable.
        """
        masks = self._masks(instance)
        found, masked = masks.list_of(self.topic(instance), shows_keys=values)
        return [
            *(
                DeadLetterView.of(each, key_hidden=not values or each.letter.id in masked)
                for each in found.letters
            ),
            *map(DeadLetterView.of_damaged, found.damaged),
        ]

    def _stored(self, instance: str, letter: str) -> ListedDeadLetter:
        self.directory.instance(instance)
        return self.topic(instance).letter(letter)

    def _masks(self, instance: str) -> LetterMasks:
        return LetterMasks(instance, self.tables)

    def _hides_key(self, instance: str, listed: ListedDeadLetter, *, values: bool) -> bool:
        return not values or self._masks(instance).hides_key(listed.letter)

    def _one(self, listed: ListedDeadLetter, *, key_hidden: bool) -> OneLetterView:
        state = TopicAdmin(self.kafka).state(listed.letter.message.topic)
        limit = None if state is None else topic_limit(state.settings, self.kafka.message_max_bytes)
        later = None if state is None else later_changes(self.kafka, listed.letter)
        return OneLetterView.now(listed, limit, later, key_hidden=key_hidden)


def newest_first(letters: Iterable[ListedLetterView]) -> list[ListedLetterView]:
    """Return dead letters in the order of the list: damaged ones, then the newest first."""
    return sorted(letters, key=lambda each: (not each.damaged, -each.written_ms))


def _seen(found: LetterRows, *, values: bool) -> LetterRows:
    """Return rows as their reader may see them."""
    if values:
        return found
    return replace(found, rows=tuple(each.without_values() for each in found.rows))

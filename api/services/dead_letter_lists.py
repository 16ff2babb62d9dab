"""The dead letters of all instances."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from api.errors import SetInForceBroken
from api.models.dead_letter import (
    DeadLetterView,
    LetterRowsView,
    ListedLetterView,
    OneLetterView,
)
from api.services.instance_directory import InstanceDirectory
from relay.dead_letters import DeadLetter, DeadLetterTopic, ListedDeadLetter, later_changes
from relay.errors import ConfigurationError
from relay.kafka import TopicAdmin, topic_limit
from relay.model.table import TableId
from relay.operations import LetterRows, PeekTables, letter_rows
from relay.settings import KafkaSettings

SHOWN_ROWS: Final = 50
"""Rows of a message in one answer, unless the caller requests another number."""


class ShownLetter(NamedTuple):
    """A dead letter: as it is stored, as the API returns it, and its rows."""

    stored: ListedDeadLetter
    view: OneLetterView
    rows: LetterRowsView


@dataclass(frozen=True, slots=True)
class DeadLetterLists:
    """Reads the dead letters of one instance after another.

    tables  reads the logical tables, and what is hidden of them
    """

    directory: InstanceDirectory
    topic: Callable[[str], DeadLetterTopic]
    kafka: KafkaSettings
    tables: Callable[[], PeekTables]

    def one(self, instance: str, letter: str) -> OneLetterView:
        """Return a dead letter, with the current size limit of its topic and the newer changes of
        its key.

        `letter` is the id of the dead letter. Raises DeadLetterUnknown, DeadLetterDamaged,
        Unreachable, NodeMissing, KafkaNotPermitted.
        """
        return self._one(self.topic(instance).letter(letter))

    def rows(self, instance: str, letter: str, numbers: slice) -> LetterRowsView:
        """Return rows of a dead letter, column by column. Raises the errors of `one`.

        numbers  which rows of its message
        """
        return self._rows(instance, self.topic(instance).letter(letter).letter, numbers)

    def shown(self, instance: str, letter: str, first: int) -> ShownLetter:
        """Return a dead letter with its rows from the number `first` on; the topic is read once.

        Raises the errors of `one`.
        """
        listed = self.topic(instance).letter(letter)
        rows = self._rows(instance, listed.letter, slice(first, first + SHOWN_ROWS))
        return ShownLetter(listed, self._one(listed), rows)

    def _rows(self, instance: str, letter: DeadLetter, numbers: slice) -> LetterRowsView:
        try:
            tables = self.tables()
            if not tables.has_instance(instance):
                return _unknown_masks(f"{instance} is defined in the file of another relay")
            database, _, table = letter.real.partition(".")
            hidden = tables.hidden_columns(letter.logical, TableId(database, table))
        except (SetInForceBroken, ConfigurationError) as exc:
            return _unknown_masks(exc.reason.rstrip("."))
        return LetterRowsView.of(letter_rows(letter, hidden, numbers))

    def _one(self, listed: ListedDeadLetter) -> OneLetterView:
        state = TopicAdmin(self.kafka).state(listed.letter.message.topic)
        limit = None if state is None else topic_limit(state.settings, self.kafka.message_max_bytes)
        later = None if state is None else later_changes(self.kafka, listed.letter)
        return OneLetterView.now(listed, limit, later)

    def listed(self, instance: str = "") -> list[ListedLetterView]:
        """Return the dead letters of one instance, or of all if `instance` is empty, the newest
        first.

        Raises DeadLettersUnreadable, DeadLetterDamaged, Unreachable, NodeMissing.
        """
        names = [instance] if instance else [each.name for each in self.directory.instances()]
        found = [
            ListedLetterView(instance=name, **DeadLetterView.of(each).model_dump())
            for name in names
            for each in self.topic(name).letters()
        ]
        return sorted(found, key=lambda each: -each.written_ms)


def _unknown_masks(reason: str) -> LetterRowsView:
    """Return no row: without the masks, the columns that must stay hidden are not known."""
    note = f"The columns are not shown, because masks cannot be applied: {reason}."
    return LetterRowsView.of(LetterRows(note=note, hides=True))

"""Hides masked columns of dead letters: in their rows, their values and their keys."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Final

from relay.dead_letters import DeadLetter, DeadLetterList, DeadLetterTopic
from relay.errors import ConfigurationError, RelayError, Unreachable, ValueHidden
from relay.model.table import TableId
from relay.operations.peek.hidden_columns import HiddenColumns
from relay.operations.peek.letter_rows import LetterRows, letter_rows
from relay.operations.peek.tables import PeekTables

_FIRST: Final = slice(0, 1)


class LetterMasks:
    """The present masks and rules, as they apply to the dead letters of one instance.

    They also apply to older dead letters (ADR 65). If the masks and rules cannot be read, all
    columns and keys are hidden.
    """

    def __init__(self, instance: str, tables: Callable[[], PeekTables]) -> None:
        """`tables` reads the mapping and the settings of all instances; it is called once."""
        self._instance = instance
        self._read = tables
        self._hidden: dict[tuple[str, str], HiddenColumns] = {}

    def rows(self, letter: DeadLetter, numbers: slice) -> LetterRows:
        """Return rows of a dead letter without the values of hidden columns.

        `numbers` selects the rows of its message. Raises Unreachable.
        """
        hidden = self._hidden_of(letter)
        if isinstance(hidden, Unreachable):
            raise hidden
        if isinstance(hidden, RelayError):
            return _unknown(hidden.reason.rstrip("."))
        return letter_rows(letter, hidden, numbers)

    def hides_key(self, letter: DeadLetter) -> bool:
        """Return whether a mask covers the key of a dead letter, or may cover it.

        `letter` must contain the value of its message.
        """
        if letter.message.key is None:
            return False
        hidden = self._hidden_of(letter)
        if isinstance(hidden, RelayError):
            return True
        return not hidden.is_empty and key_is_hidden(letter_rows(letter, hidden, _FIRST))

    def list_of(
        self, topic: DeadLetterTopic, *, shows_keys: bool
    ) -> tuple[DeadLetterList, AbstractSet[str]]:
        """Return the dead letters of a topic, and the ids of those whose key must not be shown.

        shows_keys  whether the caller shows keys; if not, no key is checked

        Raises DeadLettersUnreadable, Unreachable.
        """
        hidden: set[str] = set()

        def look(letter: DeadLetter) -> None:
            if shows_keys and self.hides_key(letter):
                hidden.add(letter.id)

        return topic.letters(look), hidden

    def check_value(self, letter: DeadLetter) -> None:
        """Raise ValueHidden if the value of a dead letter contains, or may contain, columns that
        are hidden. Raises Unreachable.
        """
        if letter.message.value is not None and self.rows(letter, _FIRST).hides:
            raise ValueHidden(
                f"The value of dead letter {letter.id} contains columns that a mask or a rule "
                "hides, or may contain them."
            )

    def _hidden_of(self, letter: DeadLetter) -> HiddenColumns | RelayError:
        """Return the hidden columns of its table, or why they are unknown."""
        tables = self._tables
        if isinstance(tables, RelayError):
            return tables
        key = letter.logical, letter.real
        if key not in self._hidden:
            database, _, table = letter.real.partition(".")
            try:
                found = tables.hidden_columns(letter.logical, TableId(database, table))
            except RelayError as exc:
                return exc
            self._hidden[key] = found
        return self._hidden[key]

    @cached_property
    def _tables(self) -> PeekTables | RelayError:
        try:
            tables = self._read()
        except RelayError as exc:
            return exc
        if tables.has_instance(self._instance):
            return tables
        return ConfigurationError(f"{self._instance} is defined in the file of another relay.")


def key_is_hidden(found: LetterRows) -> bool:
    """Return whether the key of a dead letter with these rows must not be shown."""
    return found.hides and (not found.rows or found.rows[0].key_hidden)


def _unknown(reason: str) -> LetterRows:
    """Return no row: without the masks, the columns that must stay hidden are not known."""
    note = f"The columns are not shown, because masks cannot be applied: {reason}."
    return LetterRows(note=note, hides=True)

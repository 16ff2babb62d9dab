"""Which real tables and which operations are relayed at all: Canal's filter_regex and
filter_black_regex.
"""

from collections.abc import Collection
from typing import Final

from relay.errors import ConfigurationError
from relay.model.change import Operation
from relay.model.names.name_pattern import NamePattern
from relay.model.table import TableId
from relay.settings import FilterSettings

_DDL: Final = "DDL"


class TableFilter:
    """A compiled filter over real names; an empty white list lets every table pass.

    Raises ConfigurationError for a broken expression.
    """

    def __init__(self, settings: FilterSettings) -> None:
        self._white = _compile("filter_regex", settings.filter_regex)
        self._black = _compile("filter_black_regex", settings.filter_black_regex)
        self._operations = frozenset(settings.operations)
        self._answers: dict[TableId, bool] = {}

    def accepts(self, real: TableId) -> bool:
        """Say whether rows of the table are relayed."""
        answer = self._answers.get(real)
        if answer is None:
            answer = self._answers[real] = self._passes(real)
        return answer

    def accepts_operation(self, operation: Operation) -> bool:
        """Say whether changes of this kind are relayed."""
        return operation in self._operations

    def accepts_statement(self, tables: Collection[TableId], *, is_ddl: bool) -> bool:
        """Say whether a statement is relayed: one of its tables must pass.

        One that names no table always does.

        For RENAME, the old name or the new one is enough. Statement-format changes are kept
        whatever `operations` says, for their kind of change is not known row by row.
        """
        if is_ddl and _DDL not in self._operations:
            return False
        return not tables or any(self.accepts(table) for table in tables)

    def _passes(self, real: TableId) -> bool:
        name = str(real)
        return (self._white.empty or self._white.matches(name)) and not self._black.matches(name)


def _compile(setting: str, text: str) -> NamePattern:
    try:
        return NamePattern(text)
    except ConfigurationError as exc:
        raise ConfigurationError(f"{setting}: {exc.reason}") from exc

"""Decides which real tables and which operations are published, by Canal's filter_regex and
filter_black_regex.
"""

import re
from collections.abc import Collection
from functools import cached_property
from typing import Final

from relay.errors import ConfigurationError
from relay.model.change import Operation
from relay.model.names.name_pattern import NamePattern
from relay.model.table import TableId
from relay.settings import FilterSettings

_DDL: Final = "DDL"
_WHOLE_DATABASE: Final = re.compile(r"((?:[\w.*+?{},\[\]-]|\\[dw])+)\\\.\.\*", re.ASCII)
"""An expression for all tables of a database: the database's name without anchors and groups, then
`\\..*`.
"""


class TableFilter:
    """A compiled filter of real names. An empty filter_regex accepts every table.

    Raises ConfigurationError for an invalid expression.
    """

    def __init__(self, settings: FilterSettings) -> None:
        self._white = _compile("filter_regex", settings.filter_regex)
        self._black = _compile("filter_black_regex", settings.filter_black_regex)
        self._operations = frozenset(settings.operations)
        self._answers: dict[TableId, bool] = {}

    def accepts(self, real: TableId) -> bool:
        """Return whether rows of the table are published."""
        answer = self._answers.get(real)
        if answer is None:
            answer = self._answers[real] = self._passes(real)
        return answer

    def step(self, real: TableId) -> str:
        """Return a sentence that names the expression that accepts or excludes the table."""
        name = str(real)
        if (black := _first_match(self._black, name)) is not None:
            return f"filter_black_regex {black} leaves it out."
        if self._white.empty:
            return "No filter_regex is set, so every table is included."
        if (white := _first_match(self._white, name)) is not None:
            return f"filter_regex {white} includes it."
        return "No expression of filter_regex matches it."

    def may_accept_of(self, database: str) -> bool:
        """Return whether a table of this database may be accepted.

        False only if each expression of filter_regex names a database literally, before an escaped
        dot, and none names this one.
        """
        parts = self._white.text.split(",")
        return self._white.empty or any(_may_match(part, database) for part in parts)

    def accepts_all_of(self, database: str) -> bool:
        r"""Return whether every table of this database is certainly accepted.

        True only if filter_regex is empty or contains `NAME\..*` for the database, and no
        expression of filter_black_regex may match one of its tables.
        """
        if any(_may_match(part, database) for part in self._black.parts):
            return False
        return self._white.empty or any(each.matches(database) for each in self._whole_databases)

    @cached_property
    def _whole_databases(self) -> list[NamePattern]:
        r"""Return the database patterns NAME of the parts `NAME\..*` of filter_regex, where NAME is
        simple.

        Empty if a part has alternatives: the first alternative that matches then affects the other
        parts too.
        """
        if "|" in self._white.text:
            return []
        found = [_WHOLE_DATABASE.fullmatch(part) for part in self._white.parts]
        return [NamePattern(each[1]) for each in found if each is not None]

    def accepts_operation(self, operation: Operation) -> bool:
        """Return whether changes of this kind are published."""
        return operation in self._operations

    def accepts_statement(self, tables: Collection[TableId], *, is_ddl: bool) -> bool:
        """Return whether a statement is published.

        The filter must accept one of its tables, unless the statement names no table. DDL
        (`is_ddl`) is published only if `operations` has the word for DDL. For RENAME, the old or
        the new name is sufficient. Row changes that were logged as statements are published
        regardless of `operations`, because the operation of each row is unknown.
        """
        if is_ddl and _DDL not in self._operations:
            return False
        return not tables or any(self.accepts(table) for table in tables)

    def _passes(self, real: TableId) -> bool:
        name = str(real)
        return (self._white.empty or self._white.matches(name)) and not self._black.matches(name)


def _first_match(pattern: NamePattern, name: str) -> str | None:
    """Return the expression of a list that matches, None if the list does not match.

    Anchors are added at the ends of the joined list, so `a|b` may match only as part of it.
    """
    if not pattern.matches(name):
        return None
    return next((each for each in pattern.parts if NamePattern(each).matches(name)), pattern.text)


def _may_match(part: str, database: str) -> bool:
    name, dot, _ = part.partition(r"\.")
    if not dot or "|" in part or "(" in part:
        return True  # the expression does not begin with a literal database
    try:
        return NamePattern(name).matches(database)
    except ConfigurationError:
        return True


def _compile(setting: str, text: str) -> NamePattern:
    try:
        return NamePattern(text)
    except ConfigurationError as exc:
        raise ConfigurationError(f"{setting}: {exc.reason}") from exc

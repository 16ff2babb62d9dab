"""Decides which records a subscription receives."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from roma_client.errors import UsageError
from roma_client.records.record import STATEMENT_SUFFIX, TAG, Record

_PLAIN_NAME: Final = re.compile(r"[\w$.-]+", re.ASCII)
_PIECE: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
"""The parts of an expression that may hold a comma: an escaped character, a class, or any other
character.
"""
_STATEMENT_KEY: Final = b'["",'
"""The begin of a statement's key in a compacted topic. In other topics statements have no key."""


@dataclass(frozen=True)
class Selection:
    """The logical tables and tags of a subscription, and whether it receives statements.

    takes        returns whether a logical table `database.table` is subscribed
    topics       table name → the one topic from which it is read; a table without an entry is read
                 from each topic
    only_table   the subscribed table if it is the only one: records of other tables are then
                 skipped by their key. None: no record is skipped by its key
    reads        replaces `topics`: returns whether a table is read from a topic; may raise
                 ClientError
    tags         a row with one of these tags is selected; empty: all rows are selected
    statements   whether statements are selected too, whatever `tags` are: statements have none
    """

    takes: Callable[[str], bool]
    topics: Mapping[str, str] = field(default_factory=dict)
    only_table: str | None = None
    tags: frozenset[str] = frozenset()
    statements: bool = False
    reads: Callable[[str, str], bool] | None = None

    @classmethod
    def of_table(
        cls, database: str, table: str, topic: str, tags: frozenset[str], *, statements: bool
    ) -> "Selection":
        """Return the selection of the rows of one logical table in one topic, with these tags
        (empty: all), and with or without statements.
        """
        name = f"{database}.{table}"
        return cls(name.__eq__, {name: topic}, name, tags, statements=statements)

    def at(self, name: str, topic: str) -> "Selection":
        """Return a copy of the selection in which a table is read from this topic."""
        return replace(self, topics={**self.topics, name: topic})

    def may_take(self, record: Record) -> bool:
        """Return False if the key or the tags of the record show that it is not selected, so that
        it need not be parsed.
        """
        if self.tags and not self._has_tag(record):
            return False
        prefix, key = self._prefix, record.key
        if prefix is None or key is None or key.startswith(prefix):
            return True
        return self.statements and key.startswith(_STATEMENT_KEY)

    def takes_row(self, database: str, table: str, topic: str) -> bool:
        """Return whether a row change of this logical table in this topic is selected."""
        return self.takes_name(f"{database}.{table}", topic)

    def takes_name(self, name: str, topic: str) -> bool:
        """Return whether a row change of the logical table `database.table` in this topic is
        selected.
        """
        if not self.takes(name):
            return False
        if self.reads is not None:
            return self.reads(name, topic)
        return topic == self.topics.get(name, topic)

    def takes_statement(self, database: str, table: str, topic: str) -> bool:
        """Return whether a statement in this topic is selected.

        A statement without a table (a view, a routine) belongs to its database.
        """
        if not self.statements:
            return False
        of_rows = topic.removesuffix(STATEMENT_SUFFIX)
        if not table:
            begin, read = f"{database}.", self.topics.items()
            return any(name.startswith(begin) and read_from == of_rows for name, read_from in read)
        return self.takes_row(database, table, of_rows)

    def _has_tag(self, record: Record) -> bool:
        """Return whether a record has a selected tag, or may be a statement: those have no tags."""
        has_tags = False
        for name, value in record.headers:
            if name == TAG and value is not None:
                if value.decode("utf-8", "replace") in self.tags:
                    return True
                has_tags = True
        return self.statements and not has_tags and record.value is not None

    @cached_property
    def _prefix(self) -> bytes | None:
        name = self.only_table
        if name is None or _PLAIN_NAME.fullmatch(name) is None:
            return None  # the text in the key may be escaped: the value decides
        return f'["{name}"'.encode()


def canal_filter(text: str) -> Callable[[str], bool]:
    r"""Return a predicate for a filter of Canal: expressions over `database.table`, separated by
    commas.

    An expression must match the whole name, regardless of case, as in Canal: `shop\..*,crm\.lead`.
    A text without an expression matches every name. Raises UsageError for an expression that Python
    cannot compile.
    """
    try:
        expressions = [re.compile(each.strip(), re.IGNORECASE) for each in _parts(text)]
    except re.error as exc:
        raise UsageError(
            f"The filter {text!r} is not a list of regular expressions: {exc}."
        ) from exc
    return lambda name: not expressions or any(each.fullmatch(name) for each in expressions)


def _parts(text: str) -> list[str]:
    r"""Split at commas outside braces, groups and classes. `\(` and `[(]` open no group."""
    parts, depth = [""], 0
    for piece in _PIECE.findall(text):
        depth = max(0, depth + (piece in {"{", "("}) - (piece in {"}", ")"}))
        if piece == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    return [each for each in parts if each.strip()]

"""Decides which records a subscription receives."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from roma_client.errors import UsageError
from roma_client.records.record import STATEMENT_SUFFIX, TAG, Record

_PLAIN_NAME = re.compile(r"[\w$.-]+", re.ASCII)


@dataclass(frozen=True)
class Selection:
    """The logical tables and tags of a subscription, and whether it receives statements.

    takes        returns whether a logical table `database.table` is subscribed
    topics       table name → the one topic from which it is read; a table without an entry is read
                 from each topic
    only_table   the only subscribed table, if there is one: records of others are skipped by their
                 key
    reads        replaces `topics`: returns whether a table is read from a topic; may raise
                 ClientError
    tags         a record with one of these tags is selected; empty: all records are selected
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
        """Return the selection of one logical table."""
        name = f"{database}.{table}"
        return cls(name.__eq__, {name: topic}, name, tags, statements=statements)

    def at(self, name: str, topic: str) -> "Selection":
        """Return a copy of the selection in which a table is read from this topic."""
        return replace(self, topics={**self.topics, name: topic})

    def may_take(self, record: Record) -> bool:
        """Return False if the record's key or tags already exclude it, so that it need not be
        parsed.
        """
        if self.tags and not any(
            name == TAG and value is not None and value.decode("utf-8", "replace") in self.tags
            for name, value in record.headers
        ):
            return False
        prefix, key = self._prefix, record.key
        return prefix is None or key is None or key.startswith(prefix)

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
        if not table:
            return any(name.startswith(f"{database}.") for name in self.topics)
        return self.takes_row(database, table, topic.removesuffix(STATEMENT_SUFFIX))

    @cached_property
    def _prefix(self) -> bytes | None:
        name = self.only_table
        if name is None or _PLAIN_NAME.fullmatch(name) is None:
            return None  # the text in the key may be escaped: the value decides
        return f'["{name}"'.encode()


def canal_filter(text: str) -> Callable[[str], bool]:
    r"""Return a predicate for a filter of Canal: expressions over `database.table`, separated by
    commas.

    An expression must match the whole name, regardless of case, as in Canal:
    `shop\\..*,crm\\.lead`. Raises UsageError for an expression that Python cannot compile.
    """
    try:
        expressions = [re.compile(each.strip(), re.IGNORECASE) for each in _parts(text)]
    except re.error as exc:
        raise UsageError(
            f"The filter {text!r} is not a list of regular expressions: {exc}."
        ) from exc
    return lambda name: any(each.fullmatch(name) for each in expressions)


def _parts(text: str) -> list[str]:
    """Split at commas outside braces and brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "{[(") - (letter in "}])")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [each for each in parts if each.strip()]

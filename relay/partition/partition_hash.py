"""The partitionHash rule: from a row's key or columns to a partition number, exactly as Canal
computes it.

A rule list is cut at `,` and `;`, the first rule whose name matches decides. `db.table:$pk$` hashes
the key, `db.table:col^col` those columns, `db.table` the table's name. Source of the rule:
alibaba/canal, MQMessageUtils; vectors in tests/golden.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from relay.errors import ConfigurationError, PartitionRuleRefused
from relay.model.names.name_pattern import NamePattern, is_pattern, split_rules
from relay.model.table import TableId
from relay.partition.java_hash import java_hash

DEFAULT_RULE: Final = ".*\\..*:$pk$"
"""The rule if none is configured: every row by its key."""

_KEY_WORD: Final = "$pk$"
_UNMATCHED_PARTITION: Final = 0


@dataclass(frozen=True, slots=True)
class TablePartitioning:
    """How rows of one table are assigned to partitions.

    `ordinals` are the columns whose texts `partition_of` gets, in that order; empty if all rows
    go to one partition. `seed` is what the hash starts from: the database's hash, the table's,
    or 0. `named`: the rule names the columns, which need not be in the key.
    """

    ordinals: tuple[int, ...]
    seed: int
    partitions: int
    named: bool = False

    def partition_of(self, texts: Sequence[str | None]) -> int:
        """Return the partition of a row from the texts of `ordinals` (Canal's text; None for
        NULL).
        """
        value = self.seed
        for text in texts:
            if text:
                value ^= java_hash(text)
        return abs(value) % self.partitions

    def changes_partition(self, before: Sequence[str | None], after: Sequence[str | None]) -> bool:
        """Return whether an update moves its row to another partition, so that it must be split
        into a delete and an insert.
        """
        return before != after and self.partition_of(before) != self.partition_of(after)


@dataclass(frozen=True, slots=True)
class _Rule:
    """One rule: which tables it holds for, and the columns it hashes.

    None = the key, `by_table` = the table's name.
    """

    name: str
    pattern: NamePattern | None
    columns: tuple[str, ...] | None
    by_table: bool
    text: str

    def holds_for(self, table: TableId) -> bool:
        if self.pattern is None:
            return self.name.lower() == str(table).lower()
        return self.pattern.matches(str(table))


class HashedBy(NamedTuple):
    """The rule that assigns rows of a table to partitions.

    rule      its text
    columns   the columns that it hashes; None: those of the key
    by_table  whether it hashes the table's name instead: all rows are in one partition
    """

    rule: str
    columns: tuple[str, ...] | None
    by_table: bool


class PartitionRule:
    """A compiled rule list for topics of `partitions` partitions; an empty list means DEFAULT_RULE.

    Raises PartitionRuleRefused when a part is not a regular expression, or no partition is left to
    choose.
    """

    def __init__(self, rules: str, *, database_hash: bool, partitions: int) -> None:
        if partitions < 1:
            raise PartitionRuleRefused(
                f"A topic of {partitions} partitions has no partition for a row."
            )
        self._rules = _compile_rules(rules or DEFAULT_RULE)
        self._database_hash = database_hash
        self._partitions = partitions
        self._placements: dict[
            tuple[TableId, tuple[str, ...], tuple[int, ...]], TablePartitioning
        ] = {}

    def for_table(
        self, table: TableId, columns: tuple[str, ...], key: tuple[int, ...]
    ) -> TablePartitioning:
        """Return how rows of a table are assigned to partitions.

        `columns` are its column names in order, `key` the ordinals of its key.
        """
        version = (table, columns, key)
        partitioning = self._placements.get(version)
        if partitioning is None:
            partitioning = self._placements[version] = self._compile(table, columns, key)
        return partitioning

    def hashed_by(self, table: TableId) -> HashedBy | None:
        """Return the rule of a table; None if no rule matches: its rows are in partition 0."""
        rule = self._rule(table)
        return None if rule is None else HashedBy(rule.text, rule.columns, rule.by_table)

    def _rule(self, table: TableId) -> _Rule | None:
        return next((rule for rule in self._rules if rule.holds_for(table)), None)

    def _compile(
        self, table: TableId, columns: tuple[str, ...], key: tuple[int, ...]
    ) -> TablePartitioning:
        rule = self._rule(table)
        if rule is None:
            return TablePartitioning((), _UNMATCHED_PARTITION, self._partitions)
        if rule.by_table:
            return TablePartitioning((), java_hash(table.table), self._partitions)
        seed = java_hash(table.database) if self._database_hash else 0
        return TablePartitioning(
            _ordinals(rule, columns, key), seed, self._partitions, named=rule.columns is not None
        )


def _ordinals(rule: _Rule, columns: tuple[str, ...], key: tuple[int, ...]) -> tuple[int, ...]:
    """Find the columns to hash.

    A name the table lacks counts as an empty text, which changes no hash.
    """
    if rule.columns is None:
        # Canal takes the key's columns in the table's order; the order does not change an XOR.
        return key
    return tuple(columns.index(name) for name in rule.columns if name in columns)


@lru_cache(maxsize=256)
def _compile_rules(rules: str) -> tuple[_Rule, ...]:
    return tuple(_compile_rule(part) for part in split_rules(rules))


def _compile_rule(text: str) -> _Rule:
    name, colon, right = text.rpartition(":")
    by_table = not (colon and name)
    if by_table:
        name, columns = text, None
    elif right.lower() == _KEY_WORD:
        columns = None
    else:
        columns = tuple(column for column in right.split("^") if column)
    try:
        pattern = NamePattern(name) if is_pattern(name) else None
    except ConfigurationError as exc:
        raise PartitionRuleRefused(
            f"The rule {text!r} cannot be read: {exc.reason}", remedy=exc.way_out
        ) from exc
    return _Rule(name, pattern, columns, by_table, text)

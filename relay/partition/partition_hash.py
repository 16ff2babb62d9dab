"""Canal's partitionHash rules: from a row's key or columns to a partition number, exactly as Canal
computes it.

A rule list is split at `,` and `;`; the first rule whose table pattern matches applies.
`db.table:$pk$` hashes the key, `db.table:col^col` hashes those columns, and `db.table` hashes the
table's name. Source of the rules: alibaba/canal, MQMessageUtils; vectors in tests/golden.
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
"""The rule if none is configured: the partition of every row is chosen by its key."""

_KEY_WORD: Final = "$pk$"
_UNMATCHED_PARTITION: Final = 0


@dataclass(frozen=True, slots=True)
class TablePartitioning:
    """How rows of one table are assigned to partitions.

    ordinals    columns whose texts `partition_of` receives, in this order; empty if all rows of the
                table go to one partition
    seed        start value of the hash: the hash of the database's name, of the table's name, or 0
    partitions  number of partitions
    named       whether the rule names the columns, which then need not be in the key
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
        """Return whether an update moves its row to another partition.

        Such an update must be split into a delete and an insert. `before` and `after` are texts of
        `ordinals`.
        """
        return before != after and self.partition_of(before) != self.partition_of(after)


@dataclass(frozen=True, slots=True)
class _Rule:
    """One rule of a list.

    name      the table pattern as it is written
    pattern   the compiled pattern; None: `name` is an exact name
    columns   the columns to hash; None: those of the key
    by_table  whether the table's name is hashed instead
    text      the whole rule
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

    Raises PartitionRuleRefused if a rule is not valid, or `partitions` is below 1.
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
        """Return the rule of a table. None: no rule matches, and all its rows go to partition 0."""
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
    """Return the ordinals of the columns to hash.

    A column that the table lacks counts as an empty text, which does not change the hash.
    """
    if rule.columns is None:
        # Canal hashes the key's columns in the table's order. The order does not change an XOR.
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

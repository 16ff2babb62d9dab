"""Describes one real table of one source, from the source's catalogue."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from relay.model.change import Operation
from relay.model.source_rows.columns import SINGLE, SourceColumn
from relay.model.table import TableId
from spark_jobs.origin.row_rules import RowRules


@dataclass(frozen=True)
class Shard:
    """A real table of one source, as the source's catalogue describes it.

    instance        name of the instance, or `instance/source` for a group
    logical         logical name `database.table` of its rows
    shard_in_key    whether the message key contains the real table, because keys are unique only
                    within it
    rules           the rules and masks of its rows; None: all rows are published unchanged
    operations      kinds of changes that are published
    transformed     whether a function changes its rows in messages, which a SELECT cannot do
    lossless_keys   whether message keys have more digits of a FLOAT than the server prints
    """

    instance: str
    real: TableId
    logical: str
    columns: tuple[SourceColumn, ...]
    key_names: tuple[str, ...]
    shard_in_key: bool = False
    rules: RowRules | None = None
    operations: frozenset[Operation] = frozenset(Operation)
    transformed: bool = False
    lossless_keys: bool = False

    @cached_property
    def key(self) -> Sequence[SourceColumn]:
        """The columns of the key in their order, with their types at the source."""
        by_name = {column.name: column for column in self.columns}
        return tuple(by_name[name].in_key for name in self.key_names)

    @property
    def has_longer_key(self) -> bool:
        """Whether the key has a FLOAT column with more digits in message keys than in a SELECT."""
        return any(map(self.is_longer_in_key, self.key))

    def is_longer_in_key(self, column: SourceColumn) -> bool:
        """Return whether a key column is a FLOAT with more digits in message keys than the server
        prints.
        """
        return self.lossless_keys and column.kind == SINGLE

    @property
    def published(self) -> Sequence[SourceColumn]:
        """The columns in messages, with their types in messages."""
        return self.columns if self.rules is None else self.rules.published

    @cached_property
    def published_key(self) -> Sequence[SourceColumn]:
        """The columns of the key in their order, with their types in messages."""
        by_name = {column.name: column for column in self.published}
        return tuple(by_name[name].in_key for name in self.key_names)

    @cached_property
    def by_name(self) -> Mapping[str, SourceColumn]:
        """The columns by name in lower case."""
        return {column.name.lower(): column for column in self.columns}

    @property
    def name(self) -> str:
        """The name of the shard in messages and notes: `instance/database.table`."""
        return f"{self.instance}/{self.real}"

    @cached_property
    def mysql_types(self) -> str:
        """The JSON text that a message of this table has in `mysqlType`."""
        return json.dumps(
            {column.name: column.type_text for column in self.published}, ensure_ascii=False
        )

"""One real table of one source, as the catalogue describes it."""

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
    """A real table: its instance (of a group `instance/source`), the logical name `database.table`
    of its rows, its columns, and those of them that are its key.

    `shard_in_key`: keys are unique per real table only, so the message key names it. `rules` filter
    and mask its rows, None: all rows unchanged. `operations` are the changes that are published.
    `transformed`: a function changes its rows, which a SELECT cannot apply. `lossless_keys`:
    message keys have more digits of a FLOAT than the server prints.
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
        """The columns of the key, in its order, as the source has them."""
        by_name = {column.name: column for column in self.columns}
        return tuple(by_name[name].in_key for name in self.key_names)

    @property
    def has_longer_key(self) -> bool:
        """Whether message keys have digits of a FLOAT that its text in a SELECT lacks."""
        return any(map(self.is_longer_in_key, self.key))

    def is_longer_in_key(self, column: SourceColumn) -> bool:
        """Return whether a column of the key is a FLOAT with more digits in message keys than the
        server prints.
        """
        return self.lossless_keys and column.kind == SINGLE

    @property
    def published(self) -> Sequence[SourceColumn]:
        """The columns in messages, with their types there."""
        return self.columns if self.rules is None else self.rules.published

    @cached_property
    def published_key(self) -> Sequence[SourceColumn]:
        """The columns of the key, in its order, as messages have them."""
        by_name = {column.name: column for column in self.published}
        return tuple(by_name[name].in_key for name in self.key_names)

    @cached_property
    def by_name(self) -> Mapping[str, SourceColumn]:
        """The columns by name in lower case."""
        return {column.name.lower(): column for column in self.columns}

    @property
    def name(self) -> str:
        """How the shard is called in sentences and notes: `instance/database.table`."""
        return f"{self.instance}/{self.real}"

    @cached_property
    def mysql_types(self) -> str:
        """The JSON text that a message would have as `mysqlType`."""
        return json.dumps(
            {column.name: column.type_text for column in self.published}, ensure_ascii=False
        )

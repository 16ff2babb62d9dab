"""Collects the changes of one ALTER TABLE item by item, before they are applied."""

from dataclasses import dataclass, field

from relay.schema.history.columns.column_definition import Definition
from relay.schema.history.columns.column_form import NotFollowed
from relay.schema.history.described import DescribedTable
from relay.schema.history.indexes.altered_indexes import IndexAlterations
from relay.schema.history.indexes.key_definitions import KeyDefinition


@dataclass(slots=True)
class TableAlterations:
    """The changes by a statement.

    `dropped` and `changed` have the old names in lower case. `placed` are the added and moved
    columns, in order.
    """

    charset: str | None
    mariadb: bool
    dropped: set[str] = field(default_factory=set)
    changed: dict[str, Definition] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    hidden: dict[str, bool] = field(default_factory=dict)
    placed: list[Definition] = field(default_factory=list)
    primary_key: tuple[str, ...] | None = None
    period: tuple[str, ...] = ()
    primary_at: int = 0
    indexes: IndexAlterations = field(default_factory=IndexAlterations)
    converted: str | None = None
    versioned: bool | None = None
    keys_in_doubt: bool = False
    defined: set[str] = field(default_factory=set)

    def take_definition(
        self,
        found: Definition,
        table: DescribedTable,
        *,
        optional: bool = False,
        left_out: bool = False,
    ) -> None:
        """Record the name that a column definition gives, and the keys that it adds.

        `optional`: the column has IF EXISTS or IF NOT EXISTS, which then also applies to its keys.
        `left_out`: MariaDB leaves the column unchanged but adds its keys.
        """
        name = found.column.name
        self.defined.add(name.lower())
        if found.primary:
            self.take_primary_key(
                (name,), table, optional=optional, at=len(self.indexes.added) if left_out else 0
            )
        self.keys_in_doubt |= self.mariadb and found.has_doubtful_key
        if found.unique:
            self.indexes.added.append(KeyDefinition("UNIQUE", "", (name,), (0,), optional))

    def take_primary_key(
        self, columns: tuple[str, ...], table: DescribedTable, *, optional: bool, at: int
    ) -> None:
        """Store the columns of the statement's primary key.

        `optional` (IF EXISTS or IF NOT EXISTS): if the table had a primary key before the
        statement, ignore the new one, even if the statement drops the old one. `at`: number of
        keys that the statement adds before the primary key. Raises NotFollowed if `optional` is
        set and the table's columns are unknown.
        """
        if optional:
            require_known(table)
        if not optional or not table.primary_key:
            self.primary_key, self.primary_at = columns, at


def require_known(table: DescribedTable) -> None:
    """Raise NotFollowed for a table with unknown columns: the effect of the item depends on
    them.
    """
    if not table.columns:
        raise NotFollowed("its effect depends on unknown columns")

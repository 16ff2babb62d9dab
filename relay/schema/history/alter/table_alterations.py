"""The parsed items of one ALTER TABLE. `alter_items` fills them, `altered_table` applies them."""

from dataclasses import dataclass, field

from relay.schema.history.columns.column_definition import Definition
from relay.schema.history.columns.column_form import NotFollowed
from relay.schema.history.described import DescribedTable
from relay.schema.history.indexes.altered_indexes import IndexAlterations
from relay.schema.history.indexes.key_definitions import KeyDefinition


@dataclass(slots=True)
class TableAlterations:
    """The changes that the items of one ALTER TABLE make. Keys of `dropped` and `changed` are
    former column names in lower case.

    charset        the default character set of the table after the statement
    dropped        the dropped columns
    changed        the new definitions of columns
    renamed        the new names of columns that are not redefined
    hidden         whether a column becomes invisible
    placed         the added and moved columns, in order
    primary_key    the columns of a new primary key, None without one
    primary_at     how many keys the statement adds before the primary key
    period         the columns of a period, which cannot be NULL
    indexes        the changes of indexes
    converted      the character set of CONVERT TO, None without it
    versioned      whether it adds (True) or drops (False) system versioning, None if neither
    keys_in_doubt  whether releases of MariaDB create different keys
    defined        the columns that it defines
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
        """Add the keys in a column's definition to the changes.

        `optional`: the definition has IF EXISTS or IF NOT EXISTS, which then also applies to its
        keys. `left_out`: MariaDB does not change the column, but adds its keys.
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
        """Set the columns of the new primary key.

        optional  it has IF EXISTS or IF NOT EXISTS: a table with a primary key before the statement
                  keeps that one, even if the statement drops it
        at        how many keys the statement adds before it

        Raises NotFollowed if `optional` is set and the table's columns are unknown.
        """
        if optional:
            require_known(table)
        if not optional or not table.primary_key:
            self.primary_key, self.primary_at = columns, at


def require_known(table: DescribedTable) -> None:
    """Raise NotFollowed if the columns of the table are unknown. Call it for items whose effect
    depends on them.
    """
    if not table.columns:
        raise NotFollowed("its effect depends on the table's columns, which are not known")

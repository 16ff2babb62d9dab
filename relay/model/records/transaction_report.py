"""The published rows of a source transaction so far: the counts of its END message."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from relay.model.positions.position import OrderPair
from relay.model.table import TableId


@dataclass(frozen=True, slots=True)
class TransactionReport:
    """A source transaction with at least one published row, whose BEGIN message is sent.

    `id` names it in its BEGIN and END messages and in the header of its rows. `first` and `last`
    are the order keys of its first and last published row. `rows` are the published rows by logical
    database and table.
    """

    id: str
    first: OrderPair
    last: OrderPair
    rows: dict[str, dict[str, int]]

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> "TransactionReport":
        """Return the report that a position record holds.

        Raises KeyError or TypeError for other fields.
        """
        first, last = OrderPair(**fields["first"]), OrderPair(**fields["last"])
        return cls(fields["id"], first, last, fields["rows"])

    @classmethod
    def of(
        cls, id_: str, first: OrderPair, last: OrderPair, counts: Mapping[TableId, int]
    ) -> "TransactionReport":
        """Return the report with these counts of rows by logical table."""
        rows: dict[str, dict[str, int]] = {}
        for table, number in counts.items():
            rows.setdefault(table.database, {})[table.table] = number
        return cls(id_, first, last, rows)

    @property
    def number(self) -> int:
        """How many rows are published, of all tables together."""
        return sum(sum(tables.values()) for tables in self.rows.values())

    def by_table(self) -> Iterable[tuple[TableId, int]]:
        """Yield the logical tables with their rows, in the order of their names."""
        for database, tables in sorted(self.rows.items()):
            for table, number in sorted(tables.items()):
                yield TableId(database, table), number


def transaction_id(instance: str, source: str, name: str, before: OrderPair) -> str:
    """Return the id of a source transaction.

    `name` is its GTID, or file:offset if it has none; a server can reuse both after a reset.
    `before` is the order key before its first change, which no other transaction of the instance
    has. `source` names a source of a group, else "".
    """
    place = f"{instance}/{source}" if source else instance
    return f"{place}:{name}:{before.execute_position}"

"""The published rows of a source transaction so far. Its END message contains the counts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from relay.model.positions.position import OrderPair
from relay.model.table import TableId


@dataclass(frozen=True, slots=True)
class TransactionReport:
    """A source transaction with at least one published row, whose BEGIN message is sent.

    id     names it in its BEGIN and END messages, and in the header of its rows
    first  order key of its first published row
    last   order key of its last published row
    rows   number of published rows by logical database and table
    """

    id: str
    first: OrderPair
    last: OrderPair
    rows: dict[str, dict[str, int]]

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> "TransactionReport":
        """Return the report in the JSON fields of a position record.

        Raises KeyError or TypeError for other fields.
        """
        first, last = OrderPair(**fields["first"]), OrderPair(**fields["last"])
        return cls(fields["id"], first, last, fields["rows"])

    @classmethod
    def of(
        cls, id_: str, first: OrderPair, last: OrderPair, counts: Mapping[TableId, int]
    ) -> "TransactionReport":
        """Return a report. `counts` are the numbers of rows by logical table."""
        rows: dict[str, dict[str, int]] = {}
        for table, number in counts.items():
            rows.setdefault(table.database, {})[table.table] = number
        return cls(id_, first, last, rows)

    @property
    def number(self) -> int:
        """The number of published rows of all tables together."""
        return sum(sum(tables.values()) for tables in self.rows.values())

    def by_table(self) -> Iterable[tuple[TableId, int]]:
        """Yield (logical table, number of its rows), sorted by name."""
        for database, tables in sorted(self.rows.items()):
            for table, number in sorted(tables.items()):
                yield TableId(database, table), number


def transaction_id(instance: str, source: str, name: str, before: OrderPair) -> str:
    """Return the id of a source transaction, which no other transaction of the instance has.

    source  name of the source in a group, else ""
    name    the transaction's GTID, or file:offset if it has none; a server can use both again
            after a reset
    before  the order key before its first change, which is unique in the instance
    """
    place = f"{instance}/{source}" if source else instance
    return f"{place}:{name}:{before.execute_position}"

"""Random changes of two tables, and the rows of their source, computed directly: expected values
for copies.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from pyspark.sql import SparkSession

from relay.model.message import OutboundMessage
from tests.support.copies.spark_copies import change, copy_of

TABLES: Final = ("lines", "orders")
TableRows: TypeAlias = Mapping[str, Mapping[str, Mapping[str, str | None]]]


@dataclass(frozen=True, slots=True)
class Change:
    """One change of shop.<table>. The row's value equals the change's order."""

    table: str
    key: str
    order: int
    kind: str

    def message(self, topic: str) -> OutboundMessage:
        return change(
            topic, self.kind, self.key, self.order, table=self.table, id=self.key, n=str(self.order)
        )


def history(seed: int, orders: Iterable[int], keys: int = 30) -> list[Change]:
    """Return changes of two tables with `keys` keys each, in random order."""
    chance = random.Random(seed)
    kinds = ("INSERT", "UPDATE", "UPDATE", "DELETE")
    changes = [
        Change(chance.choice(TABLES), str(chance.randrange(keys)), order, chance.choice(kinds))
        for order in orders
    ]
    return chance.sample(changes, len(changes))


def truth(changes: Iterable[Change]) -> TableRows:
    """Return the rows of the source after these changes."""
    newest = {(each.table, each.key): each for each in sorted(changes, key=lambda each: each.order)}
    rows = [each for each in newest.values() if each.kind != "DELETE"]
    return {
        table: {
            each.key: {"id": each.key, "n": str(each.order)} for each in rows if each.table == table
        }
        for table in TABLES
    }


def copies_below(spark: SparkSession, root: Path) -> TableRows:
    """Return the rows of the copies, for tables that have one."""
    return {
        table: copy_of(spark, root, table) for table in TABLES if (root / "shop" / table).exists()
    }

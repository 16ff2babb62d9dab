"""The common workload: orders of twelve mixed columns in two shards, first by bulk statements, then
by small transactions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pymysql.cursors import Cursor

from deploy.embedded import SqlServer
from tools.bench.measuring.workload import SCHEMA

_SHARD_ROWS: Final = 500  # rows of one bulk statement, all in one shard
_BLOCK_ROWS: Final = 2 * _SHARD_ROWS  # rows of one bulk transaction, half of them in either shard
_DELETED_SHARE: Final = 5  # every fifth block, counted from the first rows on, is deleted at last
_FIRST_SMALL: Final = 10_000_000
_STATES: Final = ("new", "paid", "sent", "done")
_COLUMNS: Final = """(
    id BIGINT UNSIGNED PRIMARY KEY, buyer INT NOT NULL, article VARCHAR(64) NOT NULL,
    pieces SMALLINT UNSIGNED, price DECIMAL(12,2),
    state ENUM('new','paid','sent','done'), remark TEXT, marks BIT(8),
    weight DOUBLE, ordered_at DATETIME(3),
    changed_at TIMESTAMP(6) NULL, token VARBINARY(64)
)"""
_SMALL: Final = f"""CREATE PROCEDURE small_orders(first BIGINT, n INT) BEGIN
    DECLARE i BIGINT DEFAULT 0;
    WHILE i < n DO
        START TRANSACTION;
        INSERT INTO orders_0 VALUES (first + i, i % 97, CONCAT('a', i), 1, 9.99, 'new',
            'small order',
            b'1', 0.5, '2026-05-05 05:05:05.555', NULL, x'00ff');
        UPDATE orders_0 SET state = '{_STATES[1]}', changed_at = NOW(6) WHERE id = first + i;
        UPDATE orders_0 SET pieces = pieces + 1 WHERE id = first + i;
        IF i % 4 = 3 THEN DELETE FROM orders_0 WHERE id = first + i - 2; END IF;
        COMMIT;
        SET i = i + 1;
    END WHILE;
END"""


@dataclass(frozen=True, slots=True)
class Orders:
    """`rows` are inserted and updated in bulk, and a fifth of them is deleted. Then `transactions`
    with three or four rows each follow.
    """

    rows: int
    transactions: int
    name: str = "orders"
    tables: tuple[str, ...] = ("orders_0", "orders_1")

    def __post_init__(self) -> None:
        if self.rows % (_DELETED_SHARE * _BLOCK_ROWS) or self.transactions % 4:
            raise ValueError(
                f"rows must be a multiple of {_DELETED_SHARE * _BLOCK_ROWS}, transactions of 4"
            )

    @property
    def changes(self) -> int:
        """Return the number of row changes that `write` adds to the binlog."""
        return self.bulk_changes + self.transactions * 3 + self.transactions // 4

    @property
    def bulk_changes(self) -> int:
        """Return the number of row changes in bulk statements."""
        return self.rows * 2 + self.rows // _DELETED_SHARE

    def create(self, database: SqlServer) -> None:
        """Create one table per shard, and the procedure that writes the small transactions."""
        database.execute(
            *(f"CREATE TABLE {SCHEMA}.{table} {_COLUMNS}" for table in self.tables),
            f"USE {SCHEMA}",
            _SMALL,
        )

    def write(self, database: SqlServer) -> int:
        """Write both parts; return the number of row changes that the server reported."""
        with (
            database.connect(database=SCHEMA, autocommit=False) as connection,
            connection.cursor() as cursor,
        ):
            changes = 0
            for statements in (
                _inserts(self.rows),
                _updates(self.rows),
                _deletes(self.rows // _DELETED_SHARE),
            ):
                for statement in statements:
                    changes += cursor.execute(statement)
            changes += self._small(cursor)
        return changes

    def insert(self, database: SqlServer) -> int:
        """Write the bulk inserts alone, so that the tables hold every row; return their number."""
        with (
            database.connect(database=SCHEMA, autocommit=False) as connection,
            connection.cursor() as cursor,
        ):
            for statement in _inserts(self.rows):
                cursor.execute(statement)
        return self.rows

    def _small(self, cursor: Cursor) -> int:
        """Write the small transactions in a procedure of the server, which saves round trips."""
        cursor.execute(f"CALL small_orders({_FIRST_SMALL}, {self.transactions})")
        return self.transactions * 3 + self.transactions // 4


def _blocks(rows: int) -> Iterator[tuple[int, int, str]]:
    """Yield first id, last id and table of each shard's half of each block.

    The caller commits after each second half.
    """
    for first in range(0, rows, _SHARD_ROWS):
        yield first, first + _SHARD_ROWS - 1, f"orders_{first // _SHARD_ROWS % 2}"


def _committed(first: int, statement: str) -> Iterator[str]:
    yield statement
    if first // _SHARD_ROWS % 2:
        yield "COMMIT"


def _inserts(rows: int) -> Iterator[str]:
    for first, last, table in _blocks(rows):
        yield from _committed(
            first, f"INSERT INTO {table} VALUES {','.join(map(_order, range(first, last + 1)))}"
        )


def _updates(rows: int) -> Iterator[str]:
    changed = "state = 'paid', pieces = pieces + 1, changed_at = '2026-03-03 00:00:00.5'"
    for first, last, table in _blocks(rows):
        yield from _committed(
            first, f"UPDATE {table} SET {changed} WHERE id BETWEEN {first} AND {last}"
        )


def _deletes(rows: int) -> Iterator[str]:
    for first, last, table in _blocks(rows):
        yield from _committed(first, f"DELETE FROM {table} WHERE id BETWEEN {first} AND {last}")


def _order(i: int) -> str:
    return (
        f"({i},{i % 9973},'article-{i % 5000:05d}',{i % 300},{i % 100_000 / 100:.2f},'{_STATES[i % 4]}','remark "  # noqa: E501
        f"on order {i} 订单',"
        f"b'{i % 256:b}',{i * 0.37:.4f},'2026-01-01 "
        f"10:00:{i % 60:02d}.{i % 1000:03d}','2026-02-02 11:{i % 60:02d}:00.123456',x'{i:016x}')"
    )

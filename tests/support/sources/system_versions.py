"""MariaDB's system-versioned tables, statements that change them, and the messages that the relay
makes of their binlog.
"""

from collections.abc import Iterator
from contextlib import closing, suppress

import pymysql

from deploy.embedded import SqlServer
from relay.decode import RowDecoder
from relay.encode import MessageFrame
from relay.model.change import RawRows, Statement
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition, OrderPair
from relay.model.row_path import SlowReason
from relay.model.table import Logged, TableMap
from relay.pipeline.messages.packed import packed_messages
from relay.pipeline.messages.printing.event_printer import make_event_printer
from relay.pipeline.messages.published_changes import EventContext
from relay.pipeline.messages.single_row import row_messages
from relay.schema import (
    CatalogReader,
    DeclaredTypes,
    DescribedTable,
    FollowedTables,
    TableDefinitions,
    classify,
)
from relay.schema.history import completed
from relay.schema.type_text import type_text
from relay.settings import MessageSettings
from tests.support.rows.bare_maps import bare_map
from tests.support.rows.table_plans import table_plan
from tests.support.sources.source_reading import end_of, read, source_settings
from tests.types.walked import Texts

_FRAME = MessageFrame(event_time_ms=0, gtid="", batch=1, publish_time_ms=0)
_CONTEXT = EventContext(_FRAME, None)
_OWN = (
    "s TIMESTAMP(6) GENERATED ALWAYS AS ROW START, e TIMESTAMP(6) GENERATED ALWAYS AS ROW END, "
    "PERIOD FOR SYSTEM_TIME (s, e)"
)
_PARTITIONS = "PARTITION BY SYSTEM_TIME (PARTITION p0 HISTORY, PARTITION pc CURRENT)"
TABLES = {
    "implicit": "(id INT, n INT ZEROFILL, u INT UNIQUE, PRIMARY KEY (id)) WITH SYSTEM VERSIONING",
    "own": f"(id INT, n INT, u INT, {_OWN}, PRIMARY KEY (id)) WITH SYSTEM VERSIONING",
    "end_first": f"(id INT, n INT, u INT, {_OWN}, PRIMARY KEY (e, id)) WITH SYSTEM VERSIONING",
    "start_in_key": f"(id INT, n INT, u INT, {_OWN}, PRIMARY KEY (id, s)) WITH SYSTEM VERSIONING",
    "unique_key": "(id INT NOT NULL UNIQUE, n INT, u INT) WITH SYSTEM VERSIONING",
    "own_unique_key": f"(id INT NOT NULL UNIQUE, n INT, u INT, {_OWN}) WITH SYSTEM VERSIONING",
    "aria": "(id INT PRIMARY KEY, n INT, u INT) ENGINE=Aria WITH SYSTEM VERSIONING",
    "partitioned": f"(id INT PRIMARY KEY, n INT, u INT) WITH SYSTEM VERSIONING {_PARTITIONS}",
    "unversioned_column": (
        "(id INT PRIMARY KEY, n INT, u INT WITHOUT SYSTEM VERSIONING) WITH SYSTEM VERSIONING"
    ),
    "added_later": "(id INT PRIMARY KEY, n INT, u INT)",
    "periods": "(id INT, n INT, u INT, f DATE DEFAULT '2020-01-01', t DATE DEFAULT '2030-01-01', PERIOD FOR p (f, t), "  # noqa: E501
    "PRIMARY KEY (id, p WITHOUT OVERLAPS)) WITH SYSTEM VERSIONING",
    "ordinary": "(id INT, n INT, u INT, row_start TIMESTAMP(6) NOT NULL DEFAULT '2020-01-01', "
    "row_end TIMESTAMP(6) NOT NULL DEFAULT '2021-01-01', PRIMARY KEY (id, row_end))",
}
"""Tables with the columns id, n and u; the last one has such columns without versions."""
_STATEMENTS = (
    "INSERT INTO {t} (id, n, u) VALUES (1,1,1), (2,2,2), (3,3,3), (4,4,4), (5,5,5)",
    "UPDATE {t} SET n = 10 WHERE id = 1",
    "UPDATE {t} SET n = n WHERE id = 1",
    "UPDATE {t} SET u = 77 WHERE id = 5",
    "UPDATE {t} SET id = 20 WHERE id = 2",
    "DELETE FROM {t} WHERE id = 3",
    "REPLACE INTO {t} (id, n, u) VALUES (1, 11, 1)",
    "REPLACE INTO {t} (id, n, u) VALUES (30, 11, 4)",
    "INSERT INTO {t} (id, n, u) VALUES (1, 5, 1) ON DUPLICATE KEY UPDATE n = 99",
    "BEGIN",
    "INSERT INTO {t} (id, n, u) VALUES (50, 0, 50), (51, 0, 51)",
    "UPDATE {t} SET n = 1 WHERE id >= 50",
    "DELETE FROM {t} WHERE id = 50",
    "INSERT INTO {t} (id, n, u) VALUES (50, 9, 50)",
    "COMMIT",
    "DELETE HISTORY FROM {t}",
    "UPDATE {t} FOR PORTION OF p FROM '2022-01-01' TO '2023-01-01' SET n = 8 WHERE id = 20",
    "DELETE FROM {t} FOR PORTION OF p FROM '2024-01-01' TO '2025-01-01' WHERE id = 20",
    "ALTER TABLE {t} ADD SYSTEM VERSIONING",
    "UPDATE {t} SET n = n + 1",
    "SET binlog_row_image = MINIMAL",
    "UPDATE {t} SET n = 12 WHERE id = 1",
    "UPDATE {t} SET id = 6 WHERE id = 5",
    "DELETE FROM {t} WHERE id = 51",
    "SET binlog_row_image = FULL",
    "ALTER TABLE {t} ADD COLUMN later INT",
    "UPDATE {t} SET later = 7",
    "DELETE FROM {t} WHERE id = 4",
    "INSERT INTO {t} (id, n, u) VALUES (60, 6, 60)",
    "DELETE FROM {t} WHERE id = 60",
)
"""Statements that a table does not accept are left out: it has no period, or already has
versions.
"""
_LEAST = 22


def run(server: SqlServer, schema: str, table: str, *, partial: bool = True) -> None:
    """Make a table and change it; `partial`: for a while with partial row images."""
    with server.connect(database=schema) as connection, connection.cursor() as cursor:
        cursor.execute("SET system_versioning_alter_history = KEEP")
        cursor.execute(f"CREATE TABLE {table} {TABLES[table]}")
        taken = 0
        for sql in _STATEMENTS:
            if not partial and "binlog_row_image" in sql:
                continue
            with suppress(pymysql.err.MySQLError):
                cursor.execute(sql.format(t=table))
                taken += 1
        assert taken >= _LEAST
        connection.commit()


def held(
    server: SqlServer, schema: str, table: str, columns: list[str], of: str = ""
) -> list[Texts]:
    """Return the result of a SELECT of these columns."""
    names = ", ".join(f"CAST({name} AS CHAR)" for name in columns)
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SET time_zone = '+00:00'")
        cursor.execute(f"SELECT {names} FROM {schema}.{table} {of}")
        return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]


class Reader:
    """Makes messages of a range of the binlog twice, with column names from the binlog and from the
    schema history; both must be equal.
    """

    def __init__(self, server: SqlServer, schema: str) -> None:
        self.settings = MessageSettings(row_image="partial")
        self._server = server
        self._schemas = FollowedTables(mariadb=True, server_charset="utf8mb4")
        self._schemas.put_database(schema, "utf8mb4")

    def messages(self, start: BinlogPosition, *, packed: bool = False) -> Iterator[OutboundMessage]:
        """Yield the messages of everything that was logged since the last call."""
        settings = source_settings(self._server)
        order = OrderPair(1, 0)
        with closing(CatalogReader(settings)) as catalog:
            definitions, lagging = (
                TableDefinitions(
                    type_text, catalog, DeclaredTypes(), marks_history=self.settings.marks_history
                )
                for _ in range(2)
            )
            named, followed = RowDecoder(), RowDecoder(complete=self._complete)
            for item in read(settings, start, end_of(self._server)):
                if isinstance(item, Statement):
                    self._schemas.apply(item, classify(item))
                    definitions.apply(item)
                    lagging.apply(item)
                    followed.forget()
                elif isinstance(item, RawRows):
                    made = self._made(named, definitions, item, order, packed=packed)
                    bare = item._replace(table_map=bare_map(item.table_map, Logged.NOTHING))
                    assert made == self._made(followed, lagging, bare, order, packed=packed)
                    order = made[-1][0]
                    yield from (message for _, messages in made for message in messages)

    def _complete(self, bare: TableMap) -> TableMap:
        known = self._schemas.of(bare.id)
        assert isinstance(known, DescribedTable), known
        whole = completed(bare, known)
        assert isinstance(whole, TableMap), whole
        return whole

    def _made(
        self,
        decoder: RowDecoder,
        definitions: TableDefinitions,
        item: RawRows,
        before: OrderPair,
        *,
        packed: bool,
    ) -> list[tuple[OrderPair, list[OutboundMessage]]]:
        event = decoder.decode(item)
        plan = table_plan(definitions.define(event.table), event.table.id, "t", 7)
        if plan.history is not None:
            assert (
                make_event_printer(plan.definition, ("t",), plan.routes[0].partitioning, plan.rows)
                is SlowReason.SYSTEM_VERSIONED
            )
        if packed:
            return list(packed_messages(event, plan, self.settings, _CONTEXT, before, 0, 1_000_000))
        return list(row_messages(event, plan, self.settings, _CONTEXT, before, 0))

"""Reads a real server with the package relay.source up to a position."""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Final

from deploy.embedded import SqlServer
from relay.errors import RolledBackRows
from relay.model.change import Advance, RawItem, Statement, TransactionBegin, TransactionEnd
from relay.model.positions.position import BinlogPosition, SourcePosition
from relay.settings import SourceSettings, StartSettings
from relay.source import ExcludedRange, SourceStream, open_source

_server_ids: Final = itertools.count(900_000)


def source_settings(server: SqlServer, **changed: Any) -> SourceSettings:
    """Return settings with a unique server_id and short heartbeats."""
    usual: dict[str, Any] = {
        "host": server.host,
        "port": server.port,
        "user": server.relay,
        "password": server.relay,
        "server_id": next(_server_ids),
        "heartbeat_seconds": 0.2,
    }
    return SourceSettings(**(usual | changed))


def ask(server: SqlServer, sql: str) -> Sequence[tuple[Any, ...]]:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


def end_of(server: SqlServer) -> BinlogPosition:
    newer = server.family == "mysql" and server.version >= (8, 2, 0)
    row = ask(server, "SHOW BINARY LOG STATUS" if newer else "SHOW MASTER STATUS")[0]
    return BinlogPosition(str(row[0]), int(row[1]))


def executed(server: SqlServer) -> str:
    variable = "gtid_executed" if server.family == "mysql" else "gtid_binlog_pos"
    return str(ask(server, f"SELECT @@GLOBAL.{variable}")[0][0]).replace("\n", "")


def at(place: BinlogPosition) -> StartSettings:
    return StartSettings(at="position", journal_name=place.file, position=place.offset)


def items_up_to(stream: SourceStream, target: BinlogPosition) -> list[RawItem]:
    """Return all items until the position is `target` or later. On an idle source, heartbeats
    advance it.
    """
    items: list[RawItem] = []
    for item in stream.items():
        items.append(item)
        if isinstance(item, TransactionEnd | Advance) and item.position >= target:
            break
    stream.close()
    return items


def read(
    settings: SourceSettings,
    start: BinlogPosition | SourcePosition,
    target: BinlogPosition,
    excluded: Iterable[ExcludedRange] = (),
) -> list[RawItem]:
    """Return all items from `start` to `target`. Rolled-back rows are left out in a second reading,
    as the relay does.
    """
    held = tuple(excluded)
    while True:
        resume = start if isinstance(start, SourcePosition) else None
        stream = open_source(
            settings,
            resume,
            at(start) if isinstance(start, BinlogPosition) else StartSettings(),
            excluded=held,
        )
        try:
            return items_up_to(stream, target)
        except RolledBackRows as rolled_back:
            held = (*held, *rolled_back.ranges)


def whole_transactions(items: Iterable[RawItem]) -> list[list[RawItem]]:
    """Return the transactions, each from its begin to its end. An item outside of a transaction,
    except Advance, is an error.
    """
    transactions: list[list[RawItem]] = []
    open_one: list[RawItem] | None = None
    for item in items:
        if isinstance(item, TransactionBegin):
            assert open_one is None, f"{item} begins inside a transaction"
            open_one = []
        if isinstance(item, Advance):
            assert open_one is None, f"{item} stands inside a transaction"
            continue
        assert open_one is not None, f"{item} stands outside of a transaction"
        open_one.append(item)
        if isinstance(item, TransactionEnd):
            transactions.append(open_one)
            open_one = None
    return transactions


def statements_of(items: Iterable[RawItem]) -> list[str]:
    return [item.sql for item in items if isinstance(item, Statement)]

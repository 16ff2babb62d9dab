"""`python -m tools.fuzz.record`: record the transactions of the type zoo from real servers, as
further seeds.

Each family runs the zoo twice, the second time compressed; of transactions with the same kinds of
events and columns one is kept.
"""

import sys
from collections.abc import Iterator
from typing import Final

from deploy.embedded import MariaDB, MySQL, SqlServer
from deploy.embedded.fetching.progress import say
from relay.model import event_types as types
from tests.support.rows.row_events import BinlogConnection
from tests.support.rows.type_zoo import replay
from tools.fuzz.seeds import RECORDED, Event, Transaction, written

_LARGEST_BYTES: Final = 3_000
_BEGINS: Final = (types.GTID, types.ANONYMOUS_GTID, types.GTID_TAGGED, types.MARIADB_GTID)


def main() -> int:
    """Record seed inputs from servers, and write the file. Return the exit code."""
    found: list[Transaction] = []
    for kind in (MySQL, MariaDB):
        kind.fetch()
        with kind() as server:
            found += _of_server(server)
    RECORDED.write_bytes(written(tuple(found)))
    say(f"{len(found)} transactions, {RECORDED.stat().st_size} bytes")
    return 0


def _of_server(server: SqlServer) -> list[Transaction]:
    mysql = server.family == "mysql"
    kept: dict[tuple[object, ...], Transaction] = {}
    compressing = (
        "SET GLOBAL binlog_transaction_compression = ON"
        if mysql
        else "SET GLOBAL log_bin_compress = ON"
    )
    for settings in (
        (),
        (compressing, *(() if mysql else ("SET GLOBAL log_bin_compress_min_len = 10",))),
    ):
        server.execute(*settings, "RESET BINARY LOGS AND GTIDS" if mysql else "RESET MASTER")
        with server.connect() as connection:
            replay(connection, server.family)
        for transaction in _transactions(server):
            if sum(len(event.body) for event in transaction.events) <= _LARGEST_BYTES:
                kept.setdefault(_form(transaction), transaction)
    return list(kept.values())


def _form(transaction: Transaction) -> tuple[object, ...]:
    """Return the kind of a transaction: the types of its events, and the column types of its
    tables.
    """
    maps = [event.body[8:] for event in transaction.events if event.type_code == types.TABLE_MAP]
    names = [body[: body[0] + 3 + body[body[0] + 2]] for body in maps]
    return (*(event.type_code for event in transaction.events), *names)


def _transactions(server: SqlServer) -> Iterator[Transaction]:
    """Yield the transactions of the server's oldest file."""
    with BinlogConnection(
        host=server.host, port=server.port, user=server.user, password=server.password
    ) as connection:
        events: list[Event] = []
        for type_code, body in connection.events(mariadb=server.family == "mariadb"):
            if type_code in _BEGINS and events:
                yield Transaction(server.family == "mariadb", tuple(events))
                events = []
            if events or type_code in _BEGINS:
                events.append(Event(type_code, body))


if __name__ == "__main__":
    sys.exit(main())

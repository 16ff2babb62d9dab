"""A master and its replica, and what operators do to them."""

from typing import Final

from deploy.embedded import SqlServer
from tests.support.source_reading import ask, executed
from tests.support.waiting import wait_until

_WORDS: Final = {"mysql": "REPLICA", "mariadb": "SLAVE"}


def caught_up(replica: SqlServer, master: SqlServer) -> None:
    """Wait until the replica has everything that the master has."""
    wait_until(lambda: executed(replica) == executed(master), f"the replica caught up: {executed(replica)} of {executed(master)}")


def stop_applying(replica: SqlServer) -> None:
    """Let the replica fetch, and apply nothing."""
    replica.execute(f"STOP {_WORDS[replica.family]} SQL_THREAD")


def apply_again(replica: SqlServer) -> None:
    replica.execute(f"START {_WORDS[replica.family]} SQL_THREAD")


def fetched_all(replica: SqlServer, master: SqlServer) -> None:
    """Wait until the replica holds the master's last transaction in its relay log."""
    newest = executed(master).rpartition(":")[2].rpartition("-")[2]
    wait_until(lambda: _fetched(replica).rpartition("-")[2] == newest, "the replica fetched everything")


def promote(replica: SqlServer) -> None:
    """Make the replica a server of its own."""
    word = _WORDS[replica.family]
    replica.execute(f"STOP {word}", f"RESET {word} ALL")


def past_replication(replica: SqlServer, statement: str) -> None:
    """Change something on a replica; in MariaDB in a domain of its own, or its strict mode would end the replication."""
    replica.execute(*(["SET SESSION gtid_domain_id = 7"] if replica.family == "mariadb" else []), statement)


def _fetched(replica: SqlServer) -> str:
    if replica.family == "mysql":
        return str(ask(replica, "SELECT received_transaction_set FROM performance_schema.replication_connection_status")[0][0])
    with replica.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW SLAVE STATUS")
        names = [column[0] for column in cursor.description or ()]
        row = cursor.fetchone()
    return "" if row is None else str(row[names.index("Gtid_IO_Pos")])

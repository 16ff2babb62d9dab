"""A master and its replica, and what operators do to them."""

from typing import Final

from deploy.embedded import SqlServer
from tests.support.source_reading import ask, executed
from tests.support.waiting import wait_until

_WORDS: Final = {"mysql": "REPLICA", "mariadb": "SLAVE"}
# How the family calls the two sides of semi-synchronous replication in its variables.
_SIDES: Final = {"mysql": ("source", "replica"), "mariadb": ("master", "slave")}


def caught_up(replica: SqlServer, master: SqlServer) -> None:
    """Wait until the replica has everything that the master has."""
    wait_until(lambda: executed(replica) == executed(master), f"the replica caught up: {executed(replica)} of {executed(master)}")


def semi_synchronous(master: SqlServer, replica: SqlServer) -> None:
    """Let a commit on the master return only once the replica holds it, until one of them is started again."""
    giving, taking = _SIDES[master.family]
    if master.family == "mysql":
        master.execute(f"INSTALL PLUGIN rpl_semi_sync_{giving} SONAME 'semisync_{giving}.so'")
        replica.execute(f"INSTALL PLUGIN rpl_semi_sync_{taking} SONAME 'semisync_{taking}.so'")
    word = f"{_WORDS[replica.family]} IO_THREAD"
    master.execute(f"SET GLOBAL rpl_semi_sync_{giving}_enabled = ON")
    replica.execute(f"SET GLOBAL rpl_semi_sync_{taking}_enabled = ON", f"STOP {word}", f"START {word}")
    wait_until(lambda: _semi_synchronous(master, "clients") == 1, "the replica acknowledges")


def acknowledged(master: SqlServer) -> int:
    """How many transactions a replica has acknowledged."""
    return _semi_synchronous(master, "yes_tx")


def _semi_synchronous(master: SqlServer, figure: str) -> int:
    return int(ask(master, f"SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_{_SIDES[master.family][0]}_{figure}'")[0][1])


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

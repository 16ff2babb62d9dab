"""Operators' acts on a master and its replica."""

from typing import Any, Final

from pymysql.cursors import DictCursor

from deploy.embedded import SqlServer
from relay.model.positions.position import BinlogPosition
from tests.support.sources.source_reading import ask, end_of, executed
from tests.support.waiting import wait_until

# Names of the two sides of semi-synchronous replication in the variables of a family.
_SIDES: Final = {"mysql": ("source", "replica"), "mariadb": ("master", "slave")}
_APPLIED_SECONDS: Final = 30


def _word(replica: SqlServer) -> str:
    return "REPLICA" if _newer(replica) else "SLAVE"


def _newer(server: SqlServer) -> bool:
    """Return whether its statements use the words source and replica."""
    return server.family == "mysql" and server.version >= (8, 0, 26)


def caught_up(replica: SqlServer, master: SqlServer) -> None:
    """Wait until the replica has applied every transaction of the master."""
    wait_until(
        lambda: executed(replica) == executed(master),
        f"the replica caught up: {executed(replica)} of {executed(master)}",
    )


def semi_synchronous(master: SqlServer, replica: SqlServer) -> None:
    """Make each commit on the master wait for the replica, until one of them restarts."""
    giving, taking = _SIDES[master.family]
    if master.family == "mysql":
        master.execute(f"INSTALL PLUGIN rpl_semi_sync_{giving} SONAME 'semisync_{giving}.so'")
        replica.execute(f"INSTALL PLUGIN rpl_semi_sync_{taking} SONAME 'semisync_{taking}.so'")
    word = f"{_word(replica)} IO_THREAD"
    master.execute(f"SET GLOBAL rpl_semi_sync_{giving}_enabled = ON")
    replica.execute(
        f"SET GLOBAL rpl_semi_sync_{taking}_enabled = ON", f"STOP {word}", f"START {word}"
    )
    wait_until(lambda: _semi_synchronous(master, "clients") == 1, "the replica acknowledges")


def acknowledged(master: SqlServer) -> int:
    """Return the number of transactions that a replica has acknowledged."""
    return _semi_synchronous(master, "yes_tx")


def _semi_synchronous(master: SqlServer, figure: str) -> int:
    return int(
        ask(master, f"SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_{_SIDES[master.family][0]}_{figure}'")[
            0
        ][1]
    )


def stop_applying(replica: SqlServer) -> None:
    """Stop applying on the replica; it continues to fetch."""
    replica.execute(f"STOP {_word(replica)} SQL_THREAD")


def apply_again(replica: SqlServer) -> None:
    replica.execute(f"START {_word(replica)} SQL_THREAD")


def fetched_all(replica: SqlServer, master: SqlServer) -> None:
    """Wait until the replica holds the master's last transaction in its relay log."""
    newest = executed(master).rpartition(":")[2].rpartition("-")[2]
    wait_until(
        lambda: _fetched(replica).rpartition("-")[2] == newest, "the replica fetched everything"
    )


def promote(replica: SqlServer) -> None:
    """Promote the replica: it stops replicating and accepts writes."""
    word = _word(replica)
    replica.execute(f"STOP {word}", f"RESET {word} ALL")


def past_replication(replica: SqlServer, statement: str) -> None:
    """Write on a replica. In MariaDB this uses a separate GTID domain, because strict mode would
    end the replication.
    """
    replica.execute(
        *(["SET SESSION gtid_domain_id = 7"] if replica.family == "mariadb" else []), statement
    )


def _fetched(replica: SqlServer) -> str:
    if replica.family == "mysql":
        return str(
            ask(
                replica,
                (
                    "SELECT received_transaction_set FROM "
                    "performance_schema.replication_connection_status"
                ),
            )[0][0]
        )
    return str(_replication(replica).get("Gtid_IO_Pos", ""))


def _replication(replica: SqlServer) -> dict[str, Any]:
    """Return the replication status of the server; empty if it replicates from none."""
    with replica.connect(cursorclass=DictCursor) as connection, connection.cursor() as cursor:
        cursor.execute(f"SHOW {_word(replica)} STATUS")
        return cursor.fetchone() or {}


def follow_from(replica: SqlServer, master: SqlServer, place: BinlogPosition) -> None:
    """Replicate a MySQL server without GTIDs from binlog coordinates."""
    newer = _newer(replica)
    side = "SOURCE" if newer else "MASTER"
    key = ", GET_SOURCE_PUBLIC_KEY=1, SOURCE_RETRY_COUNT=100000" if newer else ""
    replica.execute(
        f"CHANGE {'REPLICATION SOURCE' if newer else 'MASTER'} TO {side}_HOST='{master.host}', "
        f"{side}_PORT={master.port}, "
        f"{side}_USER='{master.admin}', {side}_PASSWORD='{master.admin}', "
        f"{side}_LOG_FILE='{place.file}', {side}_LOG_POS={place.offset}, "
        f"{side}_CONNECT_RETRY=1{key}",
        f"START {_word(replica)}",
    )


def applied_all(replica: SqlServer, master: SqlServer) -> None:
    """Wait until a replica of MySQL has applied the master's binlog up to its end, with GTIDs or
    without.
    """
    end = end_of(master)
    wait = "SOURCE_POS_WAIT" if _newer(replica) else "MASTER_POS_WAIT"
    waited = ask(replica, f"SELECT {wait}('{end.file}', {end.offset}, {_APPLIED_SECONDS})")[0][0]
    assert waited is not None, "the replica does not replicate"
    assert waited >= 0, f"the replica did not reach {end}"


def holds_all(replica: SqlServer, master: SqlServer) -> None:
    """Wait until a replica of MySQL holds the master's binlog in its relay log, applied or not."""
    end = end_of(master)
    names = (
        ("Source_Log_File", "Read_Source_Log_Pos")
        if _newer(replica)
        else ("Master_Log_File", "Read_Master_Log_Pos")
    )

    def held() -> bool:
        row = _replication(replica)
        return BinlogPosition(str(row[names[0]]), int(row[names[1]])) == end

    wait_until(held, f"the replica holds everything up to {end}")

"""Reads the replication state of a server: whether more transactions will arrive, and whether its
binlog has them in the order of its master.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from relay.errors import SourceNotPermitted
from relay.model.replication import Replicating, Replication
from relay.source.protocol.connection import SourceConnection
from relay.source.protocol.server_facts import ServerFacts

# MySQL 8.0.22 and later has other words for the same columns.
_OLD_WORDS: Final = (("Source_", "Master_"), ("Replica_", "Slave_"))
_ON: Final = ("ON", "1")


def ask_replication(connection: SourceConnection, server: ServerFacts) -> Replication:
    """Return the state of all replication channels of a server."""
    unproven = reordering(server.variables)
    try:
        channels = connection.named_rows(_statement(server))
    except SourceNotPermitted:
        # MariaDB asks for SLAVE MONITOR here, which a relay need not have.
        return Replication(Replicating.UNKNOWN, unproven)
    if len(channels) > 1:
        unproven = (
            f"it replicates from {len(channels)} servers, and its binlog mixes their transactions"
        )
    return Replication(replicating(channels), unproven)


def replicating(channels: Iterable[Mapping[str, object]]) -> Replicating:
    """Return RUNNING if any channel is running, else HALTED if any channel is halted, else ENDED.

    `channels` are the rows of SHOW REPLICA STATUS.
    """
    states = [
        _channel({_old(name): value for name, value in channel.items()}) for channel in channels
    ]
    return next(
        (state for state in (Replicating.RUNNING, Replicating.HALTED) if state in states),
        Replicating.ENDED,
    )


def reordering(variables: Mapping[str, str]) -> str:
    """Return why the server's binlog may have the transactions in another order than its master; ""
    if it has the same order.

    `variables` are the server's global variables.
    """

    def value(old: str, usual: str) -> str:
        return variables.get(old, variables.get(old.replace("slave", "replica"), usual)).upper()

    if value("log_slave_updates", "ON") not in _ON:
        return "its log_replica_updates is off, so its binlog lacks the replicated transactions"
    if (threads := int(value("slave_parallel_threads", "0"))) > 0:
        return (
            f"it applies with {threads} threads, which do not keep the order between GTID domains"
        )
    workers = int(value("slave_parallel_workers", "0"))
    if workers > 1 and value("slave_preserve_commit_order", "OFF") not in _ON:
        return (
            f"it applies with {workers} workers without replica_preserve_commit_order, so the "
            "order of transactions may change"
        )
    return ""


def _statement(server: ServerFacts) -> str:
    if server.mariadb:
        return "SHOW ALL SLAVES STATUS"
    return "SHOW REPLICA STATUS" if server.version >= (8, 0, 22) else "SHOW SLAVE STATUS"


def _channel(row: Mapping[str, object]) -> Replicating:
    applied = (row["Master_Log_File"], row["Read_Master_Log_Pos"]) == (
        row["Relay_Master_Log_File"],
        row["Exec_Master_Log_Pos"],
    )
    connected = str(row["Slave_IO_Running"]).upper() == "YES"
    if applied and not connected:
        return Replicating.ENDED
    return (
        Replicating.RUNNING
        if str(row["Slave_SQL_Running"]).upper() == "YES"
        else Replicating.HALTED
    )


def _old(name: str) -> str:
    for new, old in _OLD_WORDS:
        name = name.replace(new, old)
    return name

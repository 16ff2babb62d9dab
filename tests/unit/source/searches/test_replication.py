"""What a replica says of itself: whether more is on its way, and whether its binlog keeps its
master's order.
"""

from typing import Any, Final

import pytest

from relay.model.replication import Replicating
from relay.source.protocol.replication_state import reordering, replicating


def channel(
    io: str,
    sql: str,
    *,
    read: int = 500,
    executed: int = 500,
    file: str = "b.000002",
    old: bool = True,
) -> dict[str, Any]:
    """One row of SHOW SLAVE STATUS, or of SHOW REPLICA STATUS."""
    row = {
        "Master_Log_File": "b.000002",
        "Read_Master_Log_Pos": read,
        "Relay_Master_Log_File": file,
        "Exec_Master_Log_Pos": executed,
        "Slave_IO_Running": io,
        "Slave_SQL_Running": sql,
    }
    return (
        row
        if old
        else {
            name.replace("Master", "Source").replace("Slave", "Replica"): value
            for name, value in row.items()
        }
    )


STATES: Final = [
    ("no replica", [], Replicating.ENDED),
    ("connected", [channel("Yes", "Yes")], Replicating.RUNNING),
    (
        "its master is gone, more to apply",
        [channel("Connecting", "Yes", executed=400)],
        Replicating.RUNNING,
    ),
    (
        "its master is gone, a file to apply",
        [channel("Connecting", "Yes", file="b.000001")],
        Replicating.RUNNING,
    ),
    ("its master is gone, all applied", [channel("Connecting", "Yes")], Replicating.ENDED),
    ("stopped, all applied", [channel("No", "No")], Replicating.ENDED),
    ("stopped, more to apply", [channel("No", "No", executed=400)], Replicating.HALTED),
    ("fetches, applies nothing", [channel("Yes", "No")], Replicating.HALTED),
    ("the new words", [channel("Connecting", "Yes", executed=400, old=False)], Replicating.RUNNING),
    ("one of two goes on", [channel("No", "No"), channel("Yes", "Yes")], Replicating.RUNNING),
]


@pytest.mark.parametrize(
    ("channels", "state"), [each[1:] for each in STATES], ids=[each[0] for each in STATES]
)
def test_what_is_on_its_way(channels: list[dict[str, Any]], state: Replicating) -> None:
    assert replicating(channels) is state


ORDERS: Final = [
    ("no replica's variables", {}, ""),
    ("one applier", {"log_slave_updates": "ON", "slave_parallel_workers": "0"}, ""),
    (
        "workers that keep the order",
        {"slave_parallel_workers": "4", "slave_preserve_commit_order": "ON"},
        "",
    ),
    ("the new words", {"replica_parallel_workers": "4", "replica_preserve_commit_order": "ON"}, ""),
    (
        "workers that do not",
        {"slave_parallel_workers": "4", "slave_preserve_commit_order": "OFF"},
        "it applies with 4 workers",
    ),
    ("workers of before 5.7", {"slave_parallel_workers": "2"}, "it applies with 2 workers"),
    ("MariaDB's threads", {"slave_parallel_threads": "8"}, "it applies with 8 threads"),
    (
        "no binlog of what it replicates",
        {"log_slave_updates": "OFF"},
        "its log_replica_updates is off",
    ),
    ("the same in new words", {"log_replica_updates": "OFF"}, "its log_replica_updates is off"),
]


@pytest.mark.parametrize(
    ("variables", "reason"), [each[1:] for each in ORDERS], ids=[each[0] for each in ORDERS]
)
def test_whether_the_order_is_kept(variables: dict[str, str], reason: str) -> None:
    assert reordering(variables).startswith(reason)
    assert bool(reordering(variables)) is bool(reason)

"""Explanations that reports print with the tables."""

from typing import Final

from relay.compiled import COMPILED
from tools.bench.measuring.live import Load
from tools.bench.measuring.orders import Orders
from tools.bench.measuring.workload import Workload
from tools.bench.peers.java_peer import HEAP

_RELAY: Final = (
    f"The relay runs with default settings: exactly once, in Kafka transactions, "
    f"{'compiled' if COMPILED else 'NOT COMPILED'}."
)
_PEERS: Final = (
    f"The other programs run at least once, with acks=all, lz4, batches of 1 MB, heap {HEAP}"
)


_ROWS_PER_SECOND: Final = (
    "rows/s: rows divided by the time from the first row in Kafka's log until a read_committed "
    "consumer can read the last one, checked every 10 ms. Such a consumer then counted all rows. "
    "CPU (user and system, with child processes) covers the same time, peak memory (VmHWM) the "
    "whole run, start-up the time from the start of the process to its first row. All figures are "
    "medians of the rounds, after an uncounted run that warmed the broker. Cores used by others "
    "(programs that do not belong to the benchmark) are those of the worst round."
)
_PLAIN: Final = (
    "plain producer: sends the relay's messages again, from memory and in transactions of 200 "
    "ms. It shows the limit of one producer of this client library."
)


def throughput_notes(workloads: list[Workload]) -> list[str]:
    """Return how rows per second were measured."""
    partitioning = (
        "All programs use 4 partitions by primary key, and one row a message unless the table "
        "says otherwise."
    )
    return [
        *map(_workload, workloads),
        _ROWS_PER_SECOND,
        f"{_RELAY} {_PEERS}, linger 20 ms. {partitioning}",
        _PLAIN,
    ]


def live_notes(load: Load) -> list[str]:
    """Return how latency was measured."""
    counted = (
        f"{load.rate:,.0f} transactions of one row per second for {load.seconds:.0f} s, after "
        f"{load.warm_s:.0f} s uncounted"
    )
    warmed = "An uncounted run before all others warmed the broker."
    return [
        (
            f"{counted}. p50, p99 and max are the time from the server's answer to the commit "
            f"until a read_committed consumer has the row. {warmed}"
        ),
        (
            f"idle CPU: of one core, over {load.idle_s:.0f} s without any transaction. CPU under "
            f"load: with child processes."
        ),
        "The consumer's fetches wait 5 ms at most. All programs run on one machine.",
        f"{_RELAY} {_PEERS}, linger 5 ms; Debezium polls every 5 ms.",
    ]


def _workload(workload: Workload) -> str:
    if not isinstance(workload, Orders):
        return (
            "wide: 60 columns, one of them JSON and one a text of 2 KB; a fourth of the rows is "
            "updated."
        )
    sizes = (
        f"{workload.bulk_changes:,} of them in bulk statements of 500 rows, the rest in "
        f"{workload.transactions:,} small transactions"
    )
    return f"orders: {workload.changes:,} row changes of 12 columns, {sizes}."

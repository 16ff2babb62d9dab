"""Faults of the source and of the network to it."""

from typing import Final

from tests.support.sources.source_pair import caught_up, promote
from tools.faults.scenario import scenario
from tools.faults.stage import Run


@scenario("source-cut", "the connection to the source is cut for 5 s")
def cut(run: Run) -> None:
    """Reset and refuse connections for 5 s. The relay detects this fault immediately."""
    run.rest(0, 1)
    run.line.shut()
    run.rest(5)
    run.line.reopen()
    run.moving()


@scenario(
    "source-black-hole",
    "the network drops all traffic to the source for 8 s (read_timeout_seconds = 3)",
    source={"read_timeout_seconds": 3},
)
def black_hole(run: Run) -> None:
    """Forward no byte for 8 s. The relay detects this fault only by its timeouts."""
    run.rest(0, 1)
    run.line.swallow()
    run.rest(8)
    run.line.reopen()
    run.moving()


@scenario("source-killed", "the database server is killed (kill -9) and started again")
def killed(run: Run) -> None:
    """Kill the database and start it again. Its binlog may end in an incomplete transaction."""
    run.rest(0, 1)
    run.database.kill()
    run.rest(1, 2)
    run.database.start()
    run.moving()


_BY_HEARTBEATS: Final = {
    "detecting_interval_seconds": 0.5,
    "retry_threshold": 2,
    "heartbeat_ha_enable": True,
}


@scenario(
    "source-switched-by-digest",
    (
        "as source-switched, without GTIDs: digests prove what the replica has "
        "(fallback_interval_seconds = 10)"
    ),
    pair=True,
    source={"gtid": False},
    failover={**_BY_HEARTBEATS, "switch_without_gtid": "digest", "fallback_interval_seconds": 10},
)
@scenario(
    "source-of-group-switched",
    "as source-switched, for a group whose other source is idle",
    pair=True,
    beside=True,
    failover=_BY_HEARTBEATS,
)
@scenario(
    "source-switched",
    (
        "the master is locked, its replica is promoted when it has every transaction, and the "
        "master is killed; the relay detects this by heartbeats"
    ),
    pair=True,
    failover=_BY_HEARTBEATS,
)
def switched(run: Run) -> None:
    """Kill the master, and promote its replica, which has every row. Later start the old master as
    a replica of the new one.
    """
    run.rest(0, 1)
    master, replica = run.servers.pair
    with master.connect() as connection, connection.cursor() as cursor:
        cursor.execute("FLUSH TABLES WITH READ LOCK")
        caught_up(replica, master)
        master.kill()
    promote(replica)
    run.write_to(replica)
    run.moving()
    master.start()
    master.replicate_from(replica)
    run.servers.pair.reverse()

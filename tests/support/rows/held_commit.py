"""A commit that waits for its semi-synchronous replica: it is in the binlog, and no other session
sees it.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from deploy.embedded import SqlServer
from tests.support.sources.source_pair import semi_synchronous
from tests.support.sources.source_reading import ask, end_of, executed
from tests.support.waiting import wait_until

_SIDES: Final = {"mysql": "source", "mariadb": "master"}
_HELD_MS: Final = 60_000


def after_sync(master: SqlServer, replica: SqlServer) -> None:
    """Let commits on the master wait for the replica behind the sync of the binlog."""
    replica.replicate_from(master)
    wait_until(lambda: executed(replica) == executed(master), "the replica caught up")
    await_replica(master, replica)


def await_replica(master: SqlServer, replica: SqlServer) -> None:
    """Let commits on the master wait for a replica that has all, behind the sync of the binlog."""
    semi_synchronous(master, replica)
    side = f"rpl_semi_sync_{_SIDES[master.family]}"
    master.execute(
        f"SET GLOBAL {side}_wait_point = AFTER_SYNC", f"SET GLOBAL {side}_timeout = {_HELD_MS}"
    )


@contextmanager
def held(master: SqlServer, replica: SqlServer, statement: str) -> Iterator[None]:
    """Context manager: inside, the statement is in the master's binlog and its commit waits.

    Afterwards it is committed.
    """
    word = "REPLICA" if master.family == "mysql" else "SLAVE"
    replica.execute(f"STOP {word} IO_THREAD")
    before = end_of(master)
    thread = threading.Thread(target=lambda: master.execute(statement))
    thread.start()
    try:
        wait_until(lambda: end_of(master) != before, "the statement is in the binlog")
        yield
    finally:
        replica.execute(f"START {word} IO_THREAD")
        thread.join(30)
        wait_until(lambda: acknowledging(master), "the replica acknowledges again")


def acknowledging(master: SqlServer) -> bool:
    """Whether a replica acknowledges commits."""
    return (
        int(
            ask(master, f"SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_{_SIDES[master.family]}_clients'")[
                0
            ][1]
        )
        == 1
    )

"""Whether a server can still receive transactions by replication. The relay reads it while it waits
until a transaction arrives there.
"""

from dataclasses import dataclass
from enum import Enum


class Replicating(Enum):
    """The state of a server's replication.

    RUNNING: more transactions can arrive. HALTED: replication is stopped; more could arrive if it
    were started. ENDED: the server has applied all it could receive, or has no master. UNKNOWN: the
    relay's account lacks the right to read the state.
    """

    RUNNING = "running"
    HALTED = "halted"
    ENDED = "ended"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Replication:
    """The replication of a server.

    `unproven` says why the order of its binlog can differ from the master's, "" if it cannot.
    """

    state: Replicating
    unproven: str = ""

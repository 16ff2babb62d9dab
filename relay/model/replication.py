"""The replication state of a server, for a relay that waits until a transaction arrives there."""

from dataclasses import dataclass
from enum import Enum


class Replicating(Enum):
    """RUNNING: more transactions can arrive.

    HALTED: more would arrive if replication were started. ENDED: it applied all it could receive,
    or has no master. UNKNOWN: the relay's account lacks the right to read it.
    """

    RUNNING = "running"
    HALTED = "halted"
    ENDED = "ended"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Replication:
    """The replication state.

    `unproven` says why the binlog's order can differ from the master's, "" if it cannot.
    """

    state: Replicating
    unproven: str = ""

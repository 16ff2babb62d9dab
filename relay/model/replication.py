"""What a server says of its own replication, as far as it matters to who waits for a transaction to
arrive there.
"""

from dataclasses import dataclass
from enum import Enum


class Replicating(Enum):
    """RUNNING: more may come.

    HALTED: more would come if somebody started it. ENDED: it applied all that it could get, or
    follows nobody.

    UNKNOWN: the relay's account may not ask.
    """

    RUNNING = "running"
    HALTED = "halted"
    ENDED = "ended"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Replication:
    """`unproven` says why the server's binlog need not be its master's in the same order, "" where
    it is.
    """

    state: Replicating
    unproven: str = ""

"""The state of the model: the source's servers, the election, two relays, the requests under way,
and the broker.

Everything is a value: a step returns a new state. Changes are numbers; those of the dead master are
1, 2, ..., those that the promoted standby takes 101, 102, .... A change's partition is its parity,
so that each of two partitions has its own key.
"""

from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

PARTITIONS: Final = (0, 1)
POSITION: Final = 2
"""The number of the position topic among the partitions that get a transaction's end."""
OWN: Final = 100
"""Changes above are the promoted standby's own."""
Changes: TypeAlias = tuple[int, ...]


class Rules(NamedTuple):
    """What the protocol relies on; a mutation takes one rule away."""

    record_in_transaction: bool = True
    """The position record becomes visible with the rows, not by itself."""
    producer_before_position: bool = True
    """The record is read after the older producers are fenced."""
    record_after_unclear_commit: bool = True
    """The result of a commit is read from the record, not concluded from a later empty commit."""
    fenced_asks_election: bool = True
    """A fenced relay opens no producer under the leadership it was fenced in."""
    fence_counts_in_abort: bool = True
    """An answer "fenced" to an abort is a fence too."""
    late_rows_verified: bool = True
    """The broker asks the coordinator whether rows belong to its open transaction (Kafka 3.6 and
    later).
    """
    standby_proved: bool = True
    """Another server is read only when it has everything that is published."""


class Budget(NamedTuple):
    """How often each fault can still happen."""

    crashes: int = 0
    expiries: int = 0  # of the election's session, while the relay runs
    timeouts: int = 0  # of a transaction, at the broker
    source_errors: int = 0
    lost_answers: int = 0
    master_deaths: int = 0


class Record(NamedTuple):
    """The position: that many changes of the server's history are published."""

    server: int = 0
    changes: int = 0


class Source(NamedTuple):
    """A master with `written` changes and a standby that has `executed` of them, and `own` ones
    once it is the master.
    """

    written: int
    executed: int = 0
    own: int = 0
    alive: bool = True

    def history(self, server: int) -> Changes:
        """What the server's binlog holds."""
        if server == 0:
            return tuple(range(1, self.written + 1))
        return (*range(1, self.executed + 1), *range(OWN + 1, OWN + self.own + 1))


class Kind(StrEnum):
    """A request of a relay's producer."""

    INIT = "init_transactions"
    ROW = "row"
    RECORD = "position record"
    COMMIT = "commit"
    ABORT = "abort"


class Request(NamedTuple):
    """A request under way to the broker; it can arrive long after its relay has died."""

    relay: int
    kind: Kind
    epoch: int = 0
    change: int = 0
    record: Record = Record()


class Phase(StrEnum):
    """The next act of a relay."""

    DEAD = "dead"
    STANDBY = "standing by"
    ELECTED = "elected"
    OPENED = "producer opened"
    RUNNING = "running"
    RECORDED = "record sent"
    COMMITTING = "committing"
    ABORTING = "aborting"


class Relay(NamedTuple):
    """One relay: its phase, its producer, and how far it has read.

    `waiting`: for the answer to a request.
    """

    phase: Phase = Phase.STANDBY
    waiting: Request | None = None
    epoch: int = 0
    server: int = 0
    taken: int = 0
    sent: int = 0
    early: Record | None = None  # a record read before its time
    trusts_memory: bool = False  # an empty commit was taken for a proof
    fenced: bool = False  # it was fenced, and its leadership was not confirmed since


class Broker(NamedTuple):
    """What Kafka holds of one transactional id.

    `ending`: the coordinator has decided, and `unmarked` partitions do not have the end yet.
    """

    epoch: int = 0
    rows: Changes = ()
    record: Record | None = None
    ending: str = ""
    unmarked: tuple[int, ...] = ()
    committed_epoch: int = 0
    timed_out_epoch: int = 0
    seen_epoch: int = 0  # by the partitions' leaders
    late: Changes = ()  # rows of a fenced producer that were not refused
    visible: tuple[Changes, ...] = ((), ())
    position: Record = Record()

    @property
    def open(self) -> bool:
        return bool(self.rows) or self.record is not None


class World(NamedTuple):
    """The whole state. `candidates` are in the order in which they joined; the first one leads."""

    source: Source
    broker: Broker = Broker()
    relays: tuple[Relay, ...] = (Relay(), Relay())
    candidates: tuple[int, ...] = (0, 1)
    wire: frozenset[Request] = frozenset()
    budget: Budget = Budget()

    def leads(self, relay: int) -> bool:
        return self.candidates[:1] == (relay,)

    def with_relay(self, number: int, relay: Relay) -> "World":
        relays = (relay, self.relays[1]) if number == 0 else (self.relays[0], relay)
        return self._replace(relays=relays)

    def without_candidate(self, number: int) -> "World":
        return self._replace(candidates=tuple(each for each in self.candidates if each != number))

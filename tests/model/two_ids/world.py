"""One moment: what the partitions hold, the coordinator of each id, and the relays."""

from typing import Final, NamedTuple, TypeAlias

POSITION: Final = 2
"""The position topic's place among the partitions; rows are in partitions 0 and 1."""
CHANGES: Final = 3
"""The source's changes are 1, 2, ...; each one's partition is its parity."""


class Rules(NamedTuple):
    """What two ids rely on; a mutation takes one rule away."""

    both_before_read: bool = True
    """Both ids are initialised before the record is read."""
    first_id_proves: bool = True
    """The second id is used only after a commit of the first id by this relay is known."""
    acknowledged_first: bool = True
    """No row is handed over before the brokers have every message of the batch before."""
    commits_in_order: bool = True
    """A commit is asked for only when the one before has succeeded."""
    failure_stops: bool = True
    """Nothing is committed behind a batch that failed."""
    record_names_second: bool = True
    """Records say that the second id may be in use: a relay of one id then fences it as well."""
    reads_again: bool = True
    """A relay of one id reads the record again after it has fenced the second one."""


class Record(NamedTuple):
    """That many changes are published; `second`: the second id may be in use."""

    changes: int = 0
    second: bool = False


class Entry(NamedTuple):
    """A message in a partition, which its transaction's end has reached or not."""

    id: int
    change: int
    record: Record | None
    committed: bool = False


class Coordinator(NamedTuple):
    """What Kafka holds of one transactional id; `unmarked` partitions do not know the end yet."""

    epoch: int = 0
    ending: str = ""
    unmarked: tuple[int, ...] = ()


class Request(NamedTuple):
    """On its way to the broker."""

    relay: int
    kind: str  # init, row, record or end
    id: int
    epoch: int = 0
    change: int = 0
    record: Record | None = None


class Batch(NamedTuple):
    """A Kafka transaction of a relay; `unacknowledged` are its messages on their way."""

    id: int
    unacknowledged: frozenset[Request] = frozenset()
    last: int = 0
    closed: bool = False
    ending: Request | None = None


class Relay(NamedTuple):
    """One life of a relay with `uses` ids.

    `read`: the record has been read, and is not read again.
    """

    uses: int = 2
    phase: str = "starts"  # initialises, reads, runs, ended
    waiting: Request | None = None
    epochs: tuple[int, int] = (0, 0)
    taken: int = 0
    read: bool = False
    turn: int = 0
    proved: bool = False
    batches: tuple[Batch, ...] = ()


Logs: TypeAlias = tuple[tuple[Entry, ...], ...]


class World(NamedTuple):
    """Everything at one moment."""

    relays: tuple[Relay, ...]
    logs: Logs = ((), (), ())
    ids: tuple[Coordinator, ...] = (Coordinator(), Coordinator())
    wire: frozenset[Request] = frozenset()
    timeouts: int = 0

    def with_relay(self, number: int, relay: Relay) -> "World":
        relays = list(self.relays)
        relays[number] = relay
        return self._replace(relays=tuple(relays))

    def with_id(self, number: int, coordinator: Coordinator) -> "World":
        ids = list(self.ids)
        ids[number] = coordinator
        return self._replace(ids=tuple(ids))

    def with_log(self, partition: int, log: tuple[Entry, ...]) -> "World":
        logs = list(self.logs)
        logs[partition] = log
        return self._replace(logs=tuple(logs))

    def open(self, number: int) -> bool:
        """Whether this id has a message in a partition that its end has not reached."""
        return any(each.id == number and not each.committed for log in self.logs for each in log)


def visible(log: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """What a reader of committed messages sees: everything before the first open transaction."""
    at = next((at for at, each in enumerate(log) if not each.committed), len(log))
    return log[:at]


def broken(world: World) -> str:
    """Say which promise this moment breaks, "" when none."""
    for partition in (0, 1):
        seen = tuple(each.change for each in visible(world.logs[partition]))
        wanted = tuple(each for each in range(1, CHANGES + 1) if each % 2 == partition)
        if seen != wanted[: len(seen)]:
            return f"partition {partition} shows {seen}"
    if any(world.open(number) or world.ids[number].ending for number in (0, 1)):
        return ""
    shown = sum(len(world.logs[partition]) for partition in (0, 1))
    if shown != (said := last_record(world).changes):
        return f"the record says that {said} are published, visible are {shown}"
    return ""


def last_record(world: World) -> Record:
    """The newest visible record."""
    records = [each.record for each in visible(world.logs[POSITION]) if each.record is not None]
    return records[-1] if records else Record()

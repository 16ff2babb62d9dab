"""What an instance can do after an error, and the pauses that it keeps between attempts."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, TypeAlias

from relay.errors import NamesUnknown, RelayError
from relay.failure_streak import Streak

FIRST_PAUSE_SECONDS: Final = 0.2
_LONGEST_PAUSE_SECONDS: Final = 10.0
_NO_CONTEST: Final = Streak()


class Wait(Enum):
    """The event, besides a stop, that ends a pause early."""

    SERVERS = "a change at the source's servers"
    MAPPING = "a change at the source's servers, a new mapping, or an operator's order"
    CLOCK = "a change at the source's servers, or a corrected wall clock"
    CONTEST = "an operator's order, or the end of the leadership"


class HaltEnd(Enum):
    """The event that ends a halt, besides a stop, an operator's call and the end of the
    leadership.
    """

    OPERATOR = "nothing more"
    SERVERS = "a change at the source's servers"
    MAPPING = "a new mapping"
    LOGIN = "a changed password or certificate"


@dataclass(frozen=True, slots=True)
class Backoff:
    """The pauses so far.

    `pause_s` grows until rows flow again. `server_id` and `fences` are the contests with another
    relay, which rows do not end.
    """

    pause_s: float = FIRST_PAUSE_SECONDS
    server_id: Streak = _NO_CONTEST
    fences: Streak = _NO_CONTEST

    def running(self) -> "Backoff":
        """Return the pauses after rows flowed."""
        return replace(self, pause_s=FIRST_PAUSE_SECONDS)

    def grown(self, longest_s: float = _LONGEST_PAUSE_SECONDS) -> "Backoff":
        """Return the pauses with the next one twice as long, `longest_s` at most."""
        return replace(self, pause_s=min(2 * self.pause_s, longest_s))


@dataclass(frozen=True, slots=True)
class Retry:
    """Stay the leader and WAITING; open the next run after `seconds`.

    `spools`: read the source into the spool meanwhile.
    """

    error: RelayError
    seconds: float
    backoff: Backoff
    wait: Wait = Wait.SERVERS
    spools: bool = False


@dataclass(frozen=True, slots=True)
class RestartFrom:
    """Stay the leader and WAITING; after `seconds` read again from the committed position.

    `left_out` are ranges of rolled-back rows that the next reading leaves out. `refresh` names a
    table that is described again before.
    """

    error: RelayError
    seconds: float
    backoff: Backoff
    left_out: Iterable[tuple[str, int, int, int]] = ()
    refresh: NamesUnknown | None = None


@dataclass(frozen=True, slots=True)
class Resign:
    """Become a standby, let other relays lead, and join the election again after `seconds`."""

    error: RelayError
    seconds: float
    backoff: Backoff


@dataclass(frozen=True, slots=True)
class Halt:
    """Stay the leader in the state STOPPED until an operator acts, or the event in `end`
    happens.
    """

    error: RelayError
    backoff: Backoff
    end: HaltEnd = HaltEnd.OPERATOR


@dataclass(frozen=True, slots=True)
class End:
    """The relay stops, and a server did not answer before."""

    error: RelayError
    backoff: Backoff


Recovery: TypeAlias = Retry | RestartFrom | Resign | Halt | End

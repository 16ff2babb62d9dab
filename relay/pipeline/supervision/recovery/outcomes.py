"""The possible recoveries of an instance after an error, and the pauses between its attempts."""

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
    """The event that ends a pause early. A stop ends every pause."""

    SERVERS = "a change at the source's servers"
    MAPPING = "a change at the source's servers, a new mapping, or an operator's order"
    CLOCK = "a change at the source's servers, or a corrected wall clock"
    CONTEST = "an operator's order, or the end of the leadership"


class HaltEnd(Enum):
    """The event that ends a halt. A stop, an operator's call and the end of the leadership end
    every halt.
    """

    OPERATOR = "nothing more"
    SERVERS = "a change at the source's servers"
    MAPPING = "a new mapping"
    LOGIN = "a changed password or certificate"


@dataclass(frozen=True, slots=True)
class Backoff:
    """The next pause between attempts, and the counts of errors that other relays caused.

    pause_s    the next pause in seconds; it grows until rows are published again
    server_id  counts errors because another relay uses the same server_id
    fences     counts errors because another relay fenced the producer

    Published rows do not reset the two counts.
    """

    pause_s: float = FIRST_PAUSE_SECONDS
    server_id: Streak = _NO_CONTEST
    fences: Streak = _NO_CONTEST

    def running(self) -> "Backoff":
        """Return the backoff with the first pause again, because rows were published."""
        return replace(self, pause_s=FIRST_PAUSE_SECONDS)

    def grown(self, longest_s: float = _LONGEST_PAUSE_SECONDS) -> "Backoff":
        """Return the backoff with the next pause twice as long, at most `longest_s` seconds."""
        return replace(self, pause_s=min(2 * self.pause_s, longest_s))


@dataclass(frozen=True, slots=True)
class Retry:
    """Recovery: stay the leader in the state WAITING, and begin the next run after a pause.

    error    the error
    seconds  the length of the pause
    backoff  the backoff after this error
    wait     the event that ends the pause early
    spools   True: read the source into the spool during the pause
    """

    error: RelayError
    seconds: float
    backoff: Backoff
    wait: Wait = Wait.SERVERS
    spools: bool = False


@dataclass(frozen=True, slots=True)
class RestartFrom:
    """Recovery: stay the leader in the state WAITING, and read again from the committed position
    after a pause.

    error     the error
    seconds   the length of the pause
    backoff   the backoff after this error
    left_out  rolled-back rows that the next reading leaves out
    refresh   names a table that the next run first describes again; None: no table
    """

    error: RelayError
    seconds: float
    backoff: Backoff
    left_out: Iterable[tuple[str, int, int, int]] = ()
    refresh: NamesUnknown | None = None


@dataclass(frozen=True, slots=True)
class Resign:
    """Recovery: become a standby, let other relays lead, and join the election again after a pause.

    error    the error
    seconds  the length of the pause
    backoff  the backoff after this error
    """

    error: RelayError
    seconds: float
    backoff: Backoff


@dataclass(frozen=True, slots=True)
class Halt:
    """Recovery: stay the leader in the state STOPPED until an operator acts.

    error    the error
    backoff  the backoff after this error
    end      a further event that ends the state
    """

    error: RelayError
    backoff: Backoff
    end: HaltEnd = HaltEnd.OPERATOR


@dataclass(frozen=True, slots=True)
class End:
    """Recovery: end the instance, because the relay is stopped and a server did not answer."""

    error: RelayError
    backoff: Backoff


Recovery: TypeAlias = Retry | RestartFrom | Resign | Halt | End

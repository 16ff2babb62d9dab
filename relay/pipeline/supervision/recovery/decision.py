"""What an instance does after an error: retry, restart from the committed position, resign, halt or
end.

The decision is a pure function of the error, of what the instance knows when its session ends, and
of the pauses so far. `Instance` carries it out.
tests/unit/pipeline/supervision/recovery/test_decision.py has a row for every error class.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, TypeAlias

from relay.errors import (
    AskedToStop,
    BatchAborted,
    BrokerUnreachable,
    ClockAhead,
    Fenced,
    LeadershipLost,
    MappingLost,
    MappingMissing,
    MappingRefused,
    NamesUnknown,
    PositionNewer,
    ProducerContested,
    RelayError,
    ResourcesExhausted,
    RolledBackRows,
    SchemaMismatch,
    ServerIdContested,
    SourceLoginRefused,
    SwitchRefused,
    UnmappedName,
    Unreachable,
)
from relay.failure_streak import Streak, StreakRule

_FIRST_PAUSE_SECONDS: Final = 0.2
_LONGEST_PAUSE_SECONDS: Final = 10.0
_LONGEST_KAFKA_PAUSE_SECONDS: Final = 1.0
"""Opening the producer waits for Kafka already.

A longer pause would only delay the restart after Kafka's return.
"""
_CONTEST: Final = StreakRule(_FIRST_PAUSE_SECONDS, longest_s=60.0, forgotten_after_s=300.0)
"""Two relays that take a server_id or a producer from each other must not do so several times a
second.
"""
_NO_CONTEST: Final = Streak()
_CONTEST_FENCES: Final = 3
"""One or two fences of a leader may be an operator's acts (`roma position set`).

More are a contest.
"""
_NEARLY: Final = 0.9
"""The broker ends expired transactions in steps, and clocks differ: this part of the timeout
explains a fence too.
"""

_MENDED_BY_A_SESSION: Final = (
    Unreachable,
    BatchAborted,
    RolledBackRows,
    NamesUnknown,
    SwitchRefused,
)
"""What a new session may mend.

A new leader's acts may cause them as well: without the leadership, they are LEADERSHIP_LOST.
"""


class Wait(Enum):
    """What ends a pause before its time, besides a stop."""

    SERVERS = "news of the source's servers"
    MAPPING = "news of the source's servers, a new mapping, or an operator's call"
    CLOCK = "news of the source's servers, or a wall clock that is set"
    CONTEST = "an operator's call, or the end of the leadership"


class HaltEnd(Enum):
    """What ends a halt, besides a stop, an operator's call and the end of the leadership."""

    OPERATOR = "nothing more"
    SERVERS = "news of the source's servers"
    MAPPING = "a new mapping"
    LOGIN = "a changed password or certificate"


@dataclass(frozen=True, slots=True)
class Backoff:
    """The pauses so far.

    `pause_s` grows until rows flow again. `server_id` and `fences` are the contests with another
    relay, which rows do not end.
    """

    pause_s: float = _FIRST_PAUSE_SECONDS
    server_id: Streak = _NO_CONTEST
    fences: Streak = _NO_CONTEST

    def running(self) -> "Backoff":
        """Return the pauses after rows flowed."""
        return replace(self, pause_s=_FIRST_PAUSE_SECONDS)

    def grown(self, longest_s: float = _LONGEST_PAUSE_SECONDS) -> "Backoff":
        """Return the pauses with the next one twice as long, `longest_s` at most."""
        return replace(self, pause_s=min(2 * self.pause_s, longest_s))


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the instance knows when an error ends a session, or comes outside of one.

    `leads`: whether ZooKeeper confirms this relay as the leader; None: ZooKeeper does not answer.
    `in_session`: whether the error ended a session. Outside of one, a new session mends nothing.
    `open_seconds`: how long the aborted batch had been open. `timeout_seconds`: after which the
    broker ends a batch. `refreshed`: whether the table of a NamesUnknown was described again for
    the same rows already. `now_s`: this moment of the monotonic clock.
    """

    instance: str
    leads: bool | None
    in_session: bool = True
    open_seconds: float = 0.0
    timeout_seconds: float = 0.0
    refreshed: bool = False
    now_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Retry:
    """Stay the leader and WAITING; open the next session after `seconds`.

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
    """Stay the leader and STOPPED until an operator acts, or what `end` names happens."""

    error: RelayError
    backoff: Backoff
    end: HaltEnd = HaltEnd.OPERATOR


@dataclass(frozen=True, slots=True)
class End:
    """The relay stops, and a server did not answer before."""

    error: RelayError
    backoff: Backoff


Recovery: TypeAlias = Retry | RestartFrom | Resign | Halt | End


def recovery(error: RelayError, known: Circumstances, backoff: Backoff) -> Recovery:
    """Return what the instance does after the error.

    An error class that no rule names is a halt.
    """
    if isinstance(error, AskedToStop):
        return End(error, backoff)
    if isinstance(error, Fenced) and known.in_session:
        return _after_fence(error, known, backoff)
    if not depends_on_leadership(error, in_session=known.in_session):
        return Resign(
            error,
            backoff.pause_s,
            backoff.grown() if isinstance(error, ResourcesExhausted) else backoff,
        )
    if known.leads is False:
        lost = isinstance(error, _MENDED_BY_A_SESSION)
        return Resign(leadership_lost(known.instance) if lost else error, backoff.pause_s, backoff)
    return _of_the_leader(error, known, backoff)


def depends_on_leadership(error: RelayError, *, in_session: bool) -> bool:
    """Return whether `recovery` uses `leads`.

    Outside of a session, a server that does not answer ends the leadership anyway.
    """
    if isinstance(error, AskedToStop | LeadershipLost | PositionNewer | ResourcesExhausted):
        return False
    return in_session or not isinstance(error, Unreachable | Fenced)


def leadership_lost(instance: str) -> LeadershipLost:
    """Return the error of a leader whose node in ZooKeeper is gone."""
    return LeadershipLost(f"The election node of instance {instance} is gone.")


def after_unexpected(error: Exception, pause_s: float, backoff: Backoff) -> Resign:
    """Return what follows an error outside of the relay's tree, a bug: another relay may try.

    This one tries again after the pause.
    """
    return Resign(
        RelayError(f"An unexpected error ended the instance on this relay ({error!r})."),
        pause_s,
        backoff,
    )


def _after_fence(error: Fenced, known: Circumstances, backoff: Backoff) -> RestartFrom | Resign:
    """Open a new producer only as the confirmed leader whose batch was open long enough for the
    broker to end it.

    A leader that was fenced earlier was fenced by a producer that ZooKeeper's election does not
    know: an operator's act, or a relay with another ZooKeeper.
    """
    if not known.leads:
        return Resign(error, backoff.pause_s, backoff)
    if known.open_seconds >= known.timeout_seconds * _NEARLY:
        aborted = BatchAborted(
            f"The broker's timeout ended a transaction that was open for "
            f"{known.open_seconds:.1f} s."
        )
        return RestartFrom(aborted, backoff.pause_s, backoff.grown())
    fences = _CONTEST.after_failure(backoff.fences, known.now_s)
    contested = ProducerContested(error.reason) if fences.in_a_row >= _CONTEST_FENCES else error
    return Resign(contested, max(backoff.pause_s, fences.pause_s), replace(backoff, fences=fences))


def _of_the_leader(
    error: RelayError, known: Circumstances, backoff: Backoff
) -> Retry | RestartFrom | Halt:
    match error:
        case Unreachable():
            return _of_a_silent_server(error, known, backoff)
        case NamesUnknown() if known.refreshed:
            reason = (
                f"The rows at {error.place} cannot be named from the source's catalogue either: "
                f"{error.reason}"
            )
            return Halt(SchemaMismatch(reason), backoff)
        case NamesUnknown():
            return RestartFrom(error, backoff.pause_s, backoff.grown(), refresh=error)
        case RolledBackRows():
            return RestartFrom(error, backoff.pause_s, backoff.grown(), left_out=error.ranges)
        case BatchAborted():
            return RestartFrom(error, backoff.pause_s, backoff.grown())
        case _:
            return Halt(error, backoff, _halt_end(error))


def _of_a_silent_server(error: Unreachable, known: Circumstances, backoff: Backoff) -> Retry:
    match error:
        case ServerIdContested():
            contest = _CONTEST.after_failure(backoff.server_id, known.now_s)
            return Retry(error, contest.pause_s, replace(backoff, server_id=contest), Wait.CONTEST)
        case BrokerUnreachable():
            wait = Wait.CLOCK if isinstance(error, ClockAhead) else Wait.SERVERS
            return Retry(
                error,
                backoff.pause_s,
                backoff.grown(_LONGEST_KAFKA_PAUSE_SECONDS),
                wait,
                spools=True,
            )
        case MappingLost() | MappingMissing():
            return Retry(error, backoff.pause_s, backoff.grown(), Wait.MAPPING)
        case _:
            return Retry(error, backoff.pause_s, backoff.grown())


def _halt_end(error: RelayError) -> HaltEnd:
    match error:
        case SwitchRefused():
            return HaltEnd.SERVERS
        case MappingRefused() | UnmappedName():
            return HaltEnd.MAPPING
        case SourceLoginRefused():
            return HaltEnd.LOGIN
        case _:
            return HaltEnd.OPERATOR

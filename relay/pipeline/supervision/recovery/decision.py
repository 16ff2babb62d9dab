"""Decides what an instance does after an error: retry, restart from the committed position, resign,
halt or end.

The decision is a pure function of the error, the circumstances and the pauses so far. `Instance`
carries it out. tests/unit/pipeline/supervision/recovery/test_decision.py has a row for every error
class.
"""

from dataclasses import dataclass, replace
from typing import Final

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
from relay.failure_streak import StreakRule
from relay.pipeline.supervision.recovery.outcomes import (
    FIRST_PAUSE_SECONDS,
    Backoff,
    End,
    Halt,
    HaltEnd,
    Recovery,
    Resign,
    RestartFrom,
    Retry,
    Wait,
)

_LONGEST_KAFKA_PAUSE_SECONDS: Final = 1.0
"""Opening the producer waits for Kafka already.

A longer pause would only delay the restart after Kafka's return.
"""
_CONTEST: Final = StreakRule(FIRST_PAUSE_SECONDS, longest_s=60.0, forgotten_after_s=300.0)
"""Errors of two relays that take a server_id or a producer from each other; they must not repeat
several times a second.
"""
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
"""Errors that a new run may resolve.

A new leader's acts can cause them too: without the leadership, they are LEADERSHIP_LOST.
"""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The circumstances of an error.

    instance         the name of the instance
    leads            whether ZooKeeper confirms this relay as the leader; None: ZooKeeper does not
                     answer
    in_run           True: the error ended a run. False: it occurred between two runs
    open_seconds     for how many seconds the aborted batch had been open
    timeout_seconds  after how many seconds the broker ends a Kafka transaction
    refreshed        for the error NamesUnknown: True if its table was already described again for
                     these rows
    now_s            the monotonic clock now
    """

    instance: str
    leads: bool | None
    in_run: bool = True
    open_seconds: float = 0.0
    timeout_seconds: float = 0.0
    refreshed: bool = False
    now_s: float = 0.0


def recovery(error: RelayError, known: Circumstances, backoff: Backoff) -> Recovery:
    """Return what the instance does after an error.

    error    the error
    known    the circumstances of the error
    backoff  the pauses and counts so far

    If the error's class has no rule, the result is a halt.
    """
    if isinstance(error, AskedToStop):
        return End(error, backoff)
    if isinstance(error, Fenced) and known.in_run:
        return _after_fence(error, known, backoff)
    if not depends_on_leadership(error, in_run=known.in_run):
        return Resign(
            error,
            backoff.pause_s,
            backoff.grown() if isinstance(error, ResourcesExhausted) else backoff,
        )
    if known.leads is False:
        lost = isinstance(error, _MENDED_BY_A_SESSION)
        return Resign(leadership_lost(known.instance) if lost else error, backoff.pause_s, backoff)
    return _of_the_leader(error, known, backoff)


def depends_on_leadership(error: RelayError, *, in_run: bool) -> bool:
    """Return whether the result of `recovery` depends on whether this relay leads.

    False for errors that end the leadership in any case, such as a server that does not answer
    outside of a run.
    """
    if isinstance(error, AskedToStop | LeadershipLost | PositionNewer | ResourcesExhausted):
        return False
    return in_run or not isinstance(error, Unreachable | Fenced)


def leadership_lost(instance: str) -> LeadershipLost:
    """Return the error of a leader whose election node in ZooKeeper is gone."""
    return LeadershipLost(f"The election node of instance {instance} is gone.")


def after_unexpected(error: Exception, pause_s: float, backoff: Backoff) -> Resign:
    """Return the recovery for an exception that is not a RelayError, which is a bug.

    error    the exception
    pause_s  seconds after which this relay joins the election again
    backoff  the pauses and counts so far

    The relay resigns, so that another relay can lead.
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
                "The source's catalogue does not give the column names of the rows at "
                f"{error.place} either: {error.reason}"
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

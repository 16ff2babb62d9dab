"""Waits between two runs of an instance. A wait ends early if the cause of it may have been
removed.
"""

import threading
from typing import Final

from relay.deadline import Deadline
from relay.pipeline.failover.group_failover import GroupFailover
from relay.pipeline.failover.source_failover import SourceFailover
from relay.pipeline.source_logins import LoginState, login_state
from relay.pipeline.supervision.instance_context import InstanceContext
from relay.pipeline.supervision.recovery.clock_pause import pause_until_clock_is_set
from relay.pipeline.supervision.recovery.outcomes import Halt, HaltEnd, RestartFrom, Retry, Wait

_POLL_INTERVAL_SECONDS: Final = 0.2


class Waits:
    """Waits in the instance's thread. Every wait ends at once when `stop` is set."""

    def __init__(
        self,
        context: InstanceContext,
        failover: SourceFailover | GroupFailover,
        mapping_changed: threading.Event,
        stop: threading.Event,
    ) -> None:
        self._instance = context.instance
        self._election = context.election
        self._mapping = context.mapping
        self._call = context.call
        self._mapping_changed = mapping_changed
        self._failover = failover
        self._stop = stop
        self._logged_in_with: LoginState = ()

    def run_begins(self) -> None:
        """Record the login data with which the next run logs in.

        A halt after a refused login ends only if this data changes.
        """
        self._logged_in_with = login_state(self._instance)

    def pause(self, decided: Retry | RestartFrom) -> None:
        """Wait before the next run, as the recovery says."""
        wait = decided.wait if isinstance(decided, Retry) else Wait.SERVERS
        match wait:
            case Wait.SERVERS:
                self._failover.wait_for_news(self._stop, decided.seconds)
            case Wait.MAPPING:
                self._pause_for_mapping(Deadline.after(decided.seconds))
            case Wait.CLOCK:
                pause_until_clock_is_set(
                    lambda seconds: (
                        self._failover.wait_for_news(self._stop, seconds) or self._stop.is_set()
                    )
                )
            case Wait.CONTEST:
                self._pause_for_contest(Deadline.after(decided.seconds))

    def rest(self, seconds: float) -> None:
        """Wait `seconds` seconds as a standby before this relay joins the election again."""
        self._stop.wait(seconds)

    def halt(self, decided: Halt) -> None:
        """Wait in the state STOPPED until the event that the recovery names (`decided.end`) occurs,
        an operator calls, or the leadership ends.
        """
        while not self._halt_ends(decided):
            if not self._election.leads() or self._election.gives_way():
                return

    def _halt_ends(self, decided: Halt) -> bool:
        """Wait a moment; return whether the halt is over."""
        if decided.end is HaltEnd.SERVERS:
            return (
                self._failover.wait_for_news(self._stop, _POLL_INTERVAL_SECONDS)
                or self._call.pending()
            )
        if self._stop.wait(_POLL_INTERVAL_SECONDS):
            return True
        by_mapping = decided.end is HaltEnd.MAPPING and self._mapping.has_news()
        by_login = (
            decided.end is HaltEnd.LOGIN and login_state(self._instance) != self._logged_in_with
        )
        return by_mapping or by_login or self._call.pending()

    def _pause_for_mapping(self, deadline: Deadline) -> None:
        while not (deadline.passed or self._mapping_changed.is_set() or self._call.pending()):
            if self._failover.wait_for_news(
                self._stop, min(_POLL_INTERVAL_SECONDS, deadline.remaining_s)
            ):
                return

    def _pause_for_contest(self, deadline: Deadline) -> None:
        while not (
            deadline.passed
            or self._call.pending()
            or self._stop.wait(min(_POLL_INTERVAL_SECONDS, deadline.remaining_s))
        ):
            if not self._election.leads() or self._election.gives_way():
                return

"""The life of one instance: a thread that waits as a standby, leads, and handles errors."""

import gc
import threading
from collections.abc import Callable
from typing import Final, TypeAlias

import structlog

from relay.errors import HandedOver, RelayError
from relay.ha import Election
from relay.pipeline.supervision.instance_context import InstanceContext, InstanceMemory, explained
from relay.pipeline.supervision.instance_status import (
    InstanceState,
    Shown,
    instance_status,
    log_level,
    unready,
)
from relay.pipeline.supervision.leader.leader_run import LeaderRun
from relay.pipeline.supervision.recovery.chooser import RecoveryChooser
from relay.pipeline.supervision.recovery.decision import leadership_lost
from relay.pipeline.supervision.recovery.outcomes import (
    End,
    Halt,
    HaltEnd,
    Recovery,
    Resign,
    RestartFrom,
    Retry,
)
from relay.pipeline.supervision.recovery.waits import Waits
from relay.pipeline.supervision.takeover_probe import TakeoverProbe
from relay.pipeline.supervision.unlogged_cascades import UnloggedCascades
from relay.settings import InstanceSettings, RelaySettings
from relay.state import InstanceStatus, InstanceStore, MappingStore
from relay.threads import Guard, RelayThread, forget_frames

_POLL_ELECTION_SECONDS: Final = 1.0

NewRun: TypeAlias = "Callable[[InstanceContext, InstanceMemory], LeaderRun]"

_log = structlog.stdlib.get_logger(__name__)


class Instance:
    """Runs one instance in a separate thread until `stop`. Its errors never affect another
    instance.
    """

    def __init__(
        self,
        settings: RelaySettings,
        instance: InstanceSettings,
        election: Election,
        mappings: MappingStore,
        notes: InstanceStore,
        new_run: NewRun = LeaderRun,
    ) -> None:
        self.name = instance.name
        self.preferred_servers = instance.preferred_servers
        self.state = InstanceState.STARTING
        self.error: RelayError | None = None
        self.mapping_changed = threading.Event()
        self._stop = threading.Event()
        self._election = election
        self._context = InstanceContext.of(
            settings, instance, election, mappings, notes, self.mapping_changed
        )
        self._memory = InstanceMemory.of(self._context)
        self.stats = self._context.stats
        self._new_session = new_run
        self._leader_run: LeaderRun | None = None
        self._takeover_probe = TakeoverProbe(settings, instance, self._context.mapping)
        self._cascades = UnloggedCascades(instance)
        self._recovery = RecoveryChooser(self._context, self._memory, election, self._stop)
        self._waits = Waits(self._context, self._memory.failover, self.mapping_changed, self._stop)
        self._thread = RelayThread("instance", instance.name, self._run)

    def start(self) -> None:
        """Watch the operators' orders, and start the thread that runs the instance."""
        self._context.call.watch()
        self._context.flow.watch()
        self._thread.start()

    @property
    def died(self) -> bool:
        """Return whether its thread ended although no stop was requested."""
        return (
            self._thread.ident is not None
            and not self._thread.is_alive()
            and not self._stop.is_set()
        )

    def ask_to_stop(self) -> None:
        """Ask the thread to end; `stop` waits for it."""
        self._stop.set()
        self._election.wake()

    @property
    def leading_since_ms(self) -> int | None:
        """Since when this relay leads the instance, in Unix milliseconds; None on a standby."""
        return self._election.leading_since_ms

    @property
    def unready(self) -> RelayError | None:
        """Why this relay could not lead the instance; None if it could or leads."""
        return unready(self.state, self.error, self._takeover_probe.error)

    def stop(self, timeout_s: float) -> bool:
        """Ask the thread to end, wait up to `timeout_s` seconds; return whether it has ended."""
        self.ask_to_stop()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def status(self, relay: str) -> InstanceStatus:
        """Return the present status, for ZooKeeper, status server and metrics. `relay` is the name
        of the relay that reports it.
        """
        if (group := self._memory.group) is not None:
            self.stats.totals.late_transactions = group.late
        run = self._leader_run
        shown = Shown(
            self.state,
            self.error,
            run.buffer if run is not None else None,
            self._cascades.words,
        )
        return instance_status(self._context, self._memory, shown, relay)

    def _run(self) -> None:
        guard = Guard("instance", self.name)
        while not self._stop.is_set():
            with guard:
                self._live()
            if guard.error is not None:
                with Guard("instance", self.name):
                    self._resign(self._recovery.after_unexpected(guard.error, guard.pause_s))
                self._waits.rest(guard.pause_s)
        if self.state not in (InstanceState.STANDBY, InstanceState.STOPPED):
            self._show(InstanceState.ENDED, None)
        self._leave()

    def _live(self) -> None:
        """Wait as a standby, lead, and handle the end of the leadership."""
        try:
            decided = self._lead() if self._stand_by() else None
        except RelayError as exc:
            decided = self._recovery.after(exc)
        match decided:
            case Resign():
                self._resign(decided)
                self._waits.rest(decided.seconds)
            case Halt():
                self._halt(decided)
                self._hand_over()
            case Retry() | RestartFrom():
                self._retry(decided)
            case End():
                _log.warning(
                    "stopped_without_answer", instance=self.name, reason=decided.error.reason
                )
            case None:
                self._hand_over()

    def _stand_by(self) -> bool:
        """Wait until this relay leads; False when a stop came first."""
        self._show(InstanceState.STANDBY, self.error)
        self._let_go()
        with self._takeover_probe.running():
            while not self._election.wait_until_leading(self._stop, _POLL_ELECTION_SECONDS):
                if self._stop.is_set():
                    return False
        return True

    def _lead(self) -> Recovery | None:
        """Start one run after another while this relay leads.

        Return the recovery that ended it, None for a stop or a hand-over.
        """
        with self._memory.failover.watching(), self._memory.spooling.leading():
            while not self._stop.is_set() and not self._election.gives_way():
                if not self._election.leads():
                    raise leadership_lost(self.name)
                if self._context.flow.paused:
                    self._pause()
                    continue
                decided = self._lead_once()
                if not self._continues_leading(decided):
                    return decided
        return None

    def _pause(self) -> None:
        self._show(InstanceState.PAUSED, None)
        self._memory.spooling.rest()
        self._context.flow.wait_to_go_on(
            self._stop, lambda: self._election.leads() and not self._election.gives_way()
        )

    def _lead_once(self) -> Recovery | None:
        """Start one run; return the recovery for its error, None if it ended without one."""
        self._let_go()
        self._waits.run_begins()
        try:
            self._leader_run = self._new_session(self._context, self._memory)
            self._leader_run.run(self._stop, self._runs)
        except RelayError as exc:
            run = self._leader_run
            return self._recovery.after(
                explained(exc, self._context, self._memory),
                0.0 if run is None else run.open_seconds,
            )
        return None

    def _continues_leading(self, decided: Recovery | None) -> bool:
        """Execute a recovery that keeps the leadership; return whether another run follows."""
        match decided:
            case None:
                return True
            case Retry() | RestartFrom():
                self._retry(decided)
                return True
            case Halt(end=HaltEnd.SERVERS):
                self._halt(decided)
                return True
            case _:
                return False

    def _retry(self, decided: Retry | RestartFrom) -> None:
        """Wait before the next run, which uses the notes of this decision."""
        if isinstance(decided, RestartFrom):
            self._memory.rolled_back.leave_out(decided.left_out)
            if decided.refresh is not None:
                self._memory.tables_to_refresh.add(decided.refresh)
        self._show(InstanceState.WAITING, decided.error)
        if isinstance(decided, Retry) and decided.spools:
            self._memory.spooling.begin()
        self._waits.pause(decided)

    def _halt(self, decided: Halt) -> None:
        self._show(InstanceState.STOPPED, decided.error)
        self._waits.halt(decided)

    def _resign(self, decided: Resign) -> None:
        self._show(InstanceState.STANDBY, decided.error)
        self._leave()

    def _hand_over(self) -> None:
        """Let another relay lead if the assignment names it."""
        assignment = self._election.gives_way()
        if assignment is not None and not self._stop.is_set():
            self._show(
                InstanceState.STANDBY,
                HandedOver(f"Relay {assignment.wanted} takes it over: {assignment.why}."),
            )
            self._leave()

    def _runs(self) -> None:
        self._memory.tables_to_refresh.refreshed()
        self._show(InstanceState.RUNNING, None)
        self._recovery.running()
        self._cascades.watch(lambda: self._context.mapping.router, self._stop)

    def _let_go(self) -> None:
        """Free the run that ended: its errors and frames refer to one another, and so keep
        clients with threads and connections.
        """
        if self._leader_run is None:
            return
        self._leader_run = None
        forget_frames(self.error)
        gc.collect()

    def _leave(self) -> None:
        """Free the clients and write the last status before another relay can lead.

        A producer whose `init_transactions` was not answered in time may still get its answer, and
        would fence the next leader's.
        """
        self._let_go()
        try:
            if self._election.leads():
                self._context.notes.put_status(self.status(self._election.member))
            self._election.resign()
        except RelayError as exc:
            _log.warning("resign_failed", instance=self.name, reason=exc.reason)
        self.stats.totals.forget_tables()

    def _show(self, state: InstanceState, error: RelayError | None) -> None:
        changed = (state, error and error.code) != (self.state, self.error and self.error.code)
        self.state, self.error = state, error
        if changed:
            _log.log(
                log_level(error),
                "instance_state",
                instance=self.name,
                state=state.value,
                error=str(error) if error else None,
            )

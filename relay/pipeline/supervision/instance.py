"""One instance's life: stand by, lead, publish, and what each error means for what comes next."""

import gc
import threading
from collections.abc import Callable
from enum import StrEnum
from time import monotonic, time
from typing import Final

import structlog

from relay.deadline import Deadline
from relay.errors import (
    AskedToStop,
    BatchAborted,
    BinlogPurged,
    BrokerUnreachable,
    ClockAhead,
    ConfigurationError,
    Fenced,
    HandedOver,
    LeadershipLost,
    MappingLost,
    MappingMissing,
    MappingRefused,
    MessageTooLarge,
    NamesUnknown,
    PositionNewer,
    PrinterFailed,
    ProducerContested,
    RelayError,
    ResourcesExhausted,
    RolledBackRows,
    ServerIdContested,
    SourceLoginRefused,
    Stop,
    SwitchRefused,
    UnmappedName,
    Unreachable,
)
from relay.growing_pause import GrowingPause
from relay.ha import AfterFence, Election, after_fence
from relay.pipeline.active_mapping import MappingInForce
from relay.pipeline.control_signals import OperatorCall
from relay.pipeline.delivery.flow_control import FlowControl
from relay.pipeline.delivery.instance_stats import Meter
from relay.pipeline.delivery.lag import lag_seconds
from relay.pipeline.delivery.message_size_limits import MessageSizes
from relay.pipeline.delivery.row_paths import paths_in_words, rows_by_path
from relay.pipeline.failover.group_failover import GroupFailover
from relay.pipeline.failover.source_failover import SourceFailover
from relay.pipeline.ingest.group_sources import SourceGroup
from relay.pipeline.messages.bug_reports import with_report
from relay.pipeline.rolled_back_ranges import RolledBack
from relay.pipeline.source_logins import LoginState, login_state
from relay.pipeline.spooling.spool_controller import Spooling
from relay.pipeline.supervision.clock_pause import pause_until_clock_is_set
from relay.pipeline.supervision.leader_session import Session
from relay.pipeline.supervision.run_time_remedy import remedy_at_run_time
from relay.pipeline.supervision.schema_refresh import Doubts
from relay.pipeline.supervision.standby_probe import Standby
from relay.pipeline.supervision.unlogged_cascades import UnloggedCascades
from relay.settings import InstanceSettings, RelaySettings
from relay.state import InstanceStatus, InstanceStore, MappingStore
from relay.threads import Guard, RelayThread, forget_frames

_FIRST_PAUSE_SECONDS: Final = 0.2
_LONGEST_PAUSE_SECONDS: Final = 10.0
_KAFKA_PAUSE_SECONDS: Final = 1.0
"""Opening the producer waits for Kafka itself, and asks all the while: a long pause beside it would only miss its return."""
_LONGEST_CONTESTED_SECONDS: Final = 60.0
_CONTEST_OVER_SECONDS: Final = 300.0
"""Two relays that take a server_id or a producer from each other must not do so several times a second: RUNNING ends no contest."""
_CONTEST_FENCES: Final = 3
"""One or two fences of a leader may be an operator's acts (`roma position set`); more are a contest."""
_ELECTION_LOOK_SECONDS: Final = 1.0
_STOPPED_LOOK_SECONDS: Final = 0.2

_log = structlog.stdlib.get_logger(__name__)


class InstanceState(StrEnum):
    """What an instance does, in a word."""

    STARTING = "STARTING"
    STANDBY = "STANDBY"
    RUNNING = "RUNNING"
    WAITING = "WAITING"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"
    ENDED = "ENDED"


class Instance:
    """Runs one instance in a thread of its own until `stop`; other instances never notice what happens to it."""

    def __init__(
        self, settings: RelaySettings, instance: InstanceSettings, election: Election, mappings: MappingStore, notes: InstanceStore
    ) -> None:
        self.name = instance.name
        self.preferred_servers = instance.preferred_servers
        self.state = InstanceState.STARTING
        self.error: RelayError | None = None
        self.meter = Meter()
        self.mapping_changed = threading.Event()
        self._settings = settings
        self._instance = instance
        self._run_time = all(each.name != instance.name for each in settings.instances)
        self._election = election
        self._mapping = MappingInForce(mappings, instance.routing, self.mapping_changed, instance.name)
        self._notes = notes
        self._call = OperatorCall(notes, instance.name)
        self._standby = Standby(settings, instance, self._mapping)
        self._session: Session | None = None
        self._sizes = MessageSizes(settings.kafka)
        self._flow = FlowControl(notes.flows, instance, self.meter.totals)
        self._group = SourceGroup(instance, instance.group) if instance.group is not None else None
        self._failover = self._new_failover(self._group)
        self._spooling = Spooling(settings.installation, instance, self.meter)
        self._rolled_back = RolledBack()
        self._doubts = Doubts()
        self._cascades = UnloggedCascades(instance)
        self._logged_in_with: LoginState = ()
        self._pause_s = _FIRST_PAUSE_SECONDS
        self._contested = GrowingPause(_FIRST_PAUSE_SECONDS, _LONGEST_CONTESTED_SECONDS, _CONTEST_OVER_SECONDS)
        self._fenced = GrowingPause(_FIRST_PAUSE_SECONDS, _LONGEST_CONTESTED_SECONDS, _CONTEST_OVER_SECONDS)
        self._fenced_pause_s = 0.0
        self._stop = threading.Event()
        self._thread = RelayThread("instance", instance.name, self._run)

    def start(self) -> None:
        self._call.watch()
        self._flow.watch()
        self._thread.start()

    @property
    def died(self) -> bool:
        """Whether its thread was started and ended by itself."""
        return self._thread.ident is not None and not self._thread.is_alive() and not self._stop.is_set()

    def ask_to_stop(self) -> None:
        """Let it end soon."""
        self._stop.set()
        self._election.wake()

    @property
    def unready(self) -> RelayError | None:
        """Why this relay could not take the instance over; None while it could, or leads."""
        if self.state in (InstanceState.STARTING, InstanceState.STANDBY):
            # However well it could reach everything: it does not know the record's format, or failed here a moment ago.
            unable = isinstance(self.error, PositionNewer | ResourcesExhausted) or type(self.error) is RelayError
            return self.error if unable else self._standby.error
        return self.error if self.state in (InstanceState.STOPPED, InstanceState.ENDED) else None

    def stop(self, timeout_s: float) -> bool:
        """Ask it to end and wait; True when it ended in time."""
        self.ask_to_stop()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def status(self, relay: str) -> InstanceStatus:
        """This moment of the instance, for ZooKeeper, the status server and the metrics."""
        if self._group is not None:
            self.meter.totals.late_transactions = self._group.late
        record, error, session = self.meter.record, self.error, self._session
        cursors = session.buffer.cursors if session is not None else None
        spool = self._spooling.view
        return InstanceStatus(
            name=self.name,
            state=self.state.value,
            code=error.code if error else "",
            reason=error.reason if error else "",
            remedy=self._remedy(error) if error else "",
            relay=relay,
            epoch=record.epoch if record else 0,
            mapping_set=self._mapping.number,
            mapping_problem=self._mapping.problem,
            position_file=record.source.binlog.file if record else "",
            position_offset=record.source.binlog.offset if record else 0,
            gtid_set=record.source.gtid_set if record else "",
            execute_time=record.order.execute_time if record else None,
            execute_position=record.order.execute_position if record else None,
            published_rows=self.meter.totals.published_rows,
            dead_letters=self.meter.totals.dead_letters.total(),
            claims=self.meter.totals.claims,
            dropped_rows=dict(self.meter.totals.dropped_rows),
            lag_seconds=self._lag_seconds(),
            buffer_put=cursors.put if cursors else 0,
            buffer_get=cursors.get if cursors else 0,
            buffer_ack=cursors.ack if cursors else 0,
            buffer_bytes=cursors.size_bytes if cursors else 0,
            spool=spool.state,
            spool_bytes=spool.size_bytes,
            spool_age_seconds=spool.age_seconds,
            spool_problem=spool.problem,
            held_back=self._held_back,
            unlogged_changes=self._cascades.words,
            sources={name: str(at.binlog) for name, at in record.positions.items()} if record and record.following else {},
            passed_over=len(self._group.passed) if self._group is not None else 0,
            row_printer=paths_in_words(self.meter.totals.printed_rows),
            printed_rows=rows_by_path(self.meter.totals.printed_rows),
            run_time=self._run_time,
            updated_ms=int(time() * 1000),
        )

    def _remedy(self, error: RelayError) -> str:
        return remedy_at_run_time(error, self.name) if self._run_time else error.way_out

    def _new_failover(self, group: SourceGroup | None) -> SourceFailover | GroupFailover:
        store, meter = self._notes.failover, self.meter
        if group is not None:
            return GroupFailover.of(self._instance, group, store, meter)
        return SourceFailover(self._instance, self._instance.source, store, lambda: meter.record)

    @property
    def _held_back(self) -> str:
        passed = self._group.words if self._group is not None else ""
        return " ".join(filter(None, (self._flow.asked, passed)))

    def _lag_seconds(self) -> float | None:
        """None on a relay that stands by: the lag is the leader's to tell."""
        if self.state is InstanceState.STANDBY:
            return None
        return lag_seconds(self.meter.reached, time(), monotonic(), self._instance.source.heartbeat_seconds)

    def _run(self) -> None:
        guard = Guard("instance", self.name)
        while not self._stop.is_set():
            with guard:
                self._live()
            if guard.error is not None:
                self._after_unexpected(guard.error, guard.pause_s)
        if self.state not in (InstanceState.STANDBY, InstanceState.STOPPED):
            self._show(InstanceState.ENDED, None)
        self._leave()

    def _live(self) -> None:
        """Stand by, lead, and do what the error asks for that ends it."""
        try:
            self._stand_by_and_lead()
        except AskedToStop as exc:
            _log.warning("stopped_without_answer", instance=self.name, reason=exc.reason)
        except RelayError as exc:
            self._after(exc)

    def _after_unexpected(self, error: Exception, pause_s: float) -> None:
        """Resign, so that another relay may try, and try again after the pause."""
        with Guard("instance", self.name):
            self._show(InstanceState.STANDBY, RelayError(f"An unexpected error ended the instance on this relay ({error!r})."))
            self._leave()
        self._stop.wait(pause_s)

    def _stand_by_and_lead(self) -> None:
        self._show(InstanceState.STANDBY, self.error)
        self._let_go()
        with self._standby.looking():
            while not self._election.wait_until_leading(self._stop, _ELECTION_LOOK_SECONDS):
                if self._stop.is_set():
                    return
        with self._failover.watching(), self._spooling.leading():
            while not self._stop.is_set() and not self._election.gives_way():
                if not self._election.leads():
                    raise LeadershipLost(f"The election node of instance {self.name} is gone.")
                if self._flow.paused:
                    self._show(InstanceState.PAUSED, None)
                    self._spooling.rest()
                    self._flow.wait_to_go_on(self._stop, lambda: self._election.leads() and not self._election.gives_way())
                    continue
                try:
                    self._lead_once()
                except (Unreachable, BatchAborted, RolledBackRows, NamesUnknown, SwitchRefused) as exc:
                    if not self._still_leads():
                        raise LeadershipLost(f"The election node of instance {self.name} is gone.") from exc
                    self._again(exc)
        self._hand_over()

    def _hand_over(self) -> None:
        """Let another relay lead, if that is why this one has ended."""
        seat = self._election.gives_way()
        if seat is not None and not self._stop.is_set():
            self._show(InstanceState.STANDBY, HandedOver(f"Relay {seat.wanted} takes it over: {seat.why}."))
            self._leave()

    def _lead_once(self) -> None:
        self._let_go()
        self._logged_in_with = login_state(self._instance)
        session = Session(
            self._settings,
            self._instance,
            self._election,
            self._mapping,
            self._notes,
            self.meter,
            self._sizes,
            self._rolled_back,
            self._call,
            self._flow,
            self._failover,
            self._spooling,
            self._doubts,
        )
        self._session = session
        try:
            session.run(self._stop, self._runs)
        except BinlogPurged as exc:
            raise self._spooling.explained(exc) from exc
        except PrinterFailed as exc:
            raise with_report(exc, self._settings.bug_reports, self.name) from exc
        except MessageTooLarge as exc:
            raise self._sizes.after_refusal(exc, self._instance.oversize, self.meter.totals.commits) from exc
        except Fenced as exc:
            self.meter.totals.fences += 1
            open_s, limit_s = session.open_seconds, self._instance.transaction.timeout_ms / 1000
            then = after_fence(self._leads_for_sure(), open_s, limit_s)
            if then is AfterFence.NEW_PRODUCER:
                raise BatchAborted(f"The broker's timeout ended a transaction that was open for {open_s:.1f} s.") from exc
            if then is AfterFence.CONTESTED:
                self._fenced_pause_s = self._fenced.after_failure()
                if self._fenced.in_a_row >= _CONTEST_FENCES:
                    raise ProducerContested(exc.reason) from exc
            raise

    def _runs(self) -> None:
        self._doubts.described()
        self._show(InstanceState.RUNNING, None)
        self._cascades.watch(lambda: self._mapping.router, self._stop)

    def _again(self, error: RelayError) -> None:
        """Errors that a new producer and a new connection mend; with growing pauses while nothing gets better."""
        if isinstance(error, RolledBackRows):
            self._rolled_back.leave_out(error.ranges)
        if isinstance(error, NamesUnknown):
            self._doubts.add(error)
        if isinstance(error, SwitchRefused):
            # It stands still until the servers or the orders change, and then looks whether this may go on.
            self._show(InstanceState.STOPPED, error)
            while not self._failover.news(self._stop, _STOPPED_LOOK_SECONDS) and not self._call.came():
                if not self._election.leads() or self._election.gives_way():
                    return
        else:
            self._show(InstanceState.WAITING, error)
            if isinstance(error, BrokerUnreachable):
                self._spooling.begin()
            if isinstance(error, ServerIdContested):
                self._rest(self._contested.after_failure())
                return
            self._pause(error)
            longest_s = _KAFKA_PAUSE_SECONDS if isinstance(error, BrokerUnreachable) else _LONGEST_PAUSE_SECONDS
            self._pause_s = min(2 * self._pause_s, longest_s)

    def _pause(self, error: RelayError) -> None:
        """Wait before the next attempt; an instance that waits for its mapping ends the pause when the mapping or its position changes."""
        if isinstance(error, ClockAhead):
            pause_until_clock_is_set(lambda seconds: self._failover.news(self._stop, seconds) or self._stop.is_set())
            return
        if not isinstance(error, MappingLost | MappingMissing):
            self._failover.news(self._stop, self._pause_s)
            return
        deadline = Deadline.after(self._pause_s)
        while not (deadline.passed or self.mapping_changed.is_set() or self._call.came()):
            if self._failover.news(self._stop, min(_STOPPED_LOOK_SECONDS, deadline.remaining_s)):
                return

    def _rest(self, seconds: float) -> None:
        """Wait, but not beyond a stop, the end of the leadership, or an operator's call."""
        deadline = Deadline.after(seconds)
        while not (deadline.passed or self._call.came() or self._stop.wait(min(_STOPPED_LOOK_SECONDS, deadline.remaining_s))):
            if not self._election.leads() or self._election.gives_way():
                return

    def _mended(self, error: RelayError) -> bool:
        """Whether the cause of a stop may be gone: an operator changed the position, the mapping or the password that is the cause."""
        by_mapping = isinstance(error, MappingRefused | UnmappedName) and self._mapping.has_news()
        by_login = isinstance(error, SourceLoginRefused) and login_state(self._instance) != self._logged_in_with
        return by_mapping or by_login or self._call.came()

    def _after(self, error: RelayError) -> None:
        """Errors that end this leadership, or the work altogether."""
        ends_leadership = Fenced | LeadershipLost | Unreachable | PositionNewer | ResourcesExhausted
        if isinstance(error, ends_leadership) or not self._still_leads():
            self._show(InstanceState.STANDBY, error)
            self._leave()
            self._stop.wait(max(self._pause_s, self._fenced_pause_s))
            self._fenced_pause_s = 0.0
            if isinstance(error, ResourcesExhausted):
                self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_SECONDS)
            return
        self._show(InstanceState.STOPPED, error)
        while not self._stop.wait(_STOPPED_LOOK_SECONDS) and not self._mended(error):
            if not self._election.leads() or self._election.gives_way():
                self._hand_over()
                return

    def _let_go(self) -> None:
        """Free the session that ended: its errors and frames hold one another, and with them clients that have threads and connections."""
        if self._session is None:
            return
        self._session = None
        forget_frames(self.error)
        gc.collect()

    def _leads_for_sure(self) -> bool:
        """Who cannot ask does not know."""
        try:
            return self._election.leads_synced()
        except Unreachable:
            return False

    def _still_leads(self) -> bool:
        """Whether this relay leads, or ZooKeeper cannot be asked for longer than a session lasts.

        After a long pause the first errors may be caused by the new leader (server_id in use, newer history): they are none of this
        relay's own, and its next producer would fence the new leader.
        """
        while self._election.undecided and not self._stop.wait(_STOPPED_LOOK_SECONDS):
            continue
        try:
            return self._election.leads_synced() if self._election.leads(for_certain=True) else self._election.leads()
        except Unreachable:
            return True

    def _leave(self) -> None:
        """Free the clients and write the last status before another relay can lead.

        A producer whose `init_transactions` was not answered in time may still get its answer, and would fence the next leader's.
        """
        self._let_go()
        try:
            if self._election.leads():
                self._notes.put_status(self.status(self._election.member))
            self._election.resign()
        except RelayError as exc:
            _log.warning("resign_failed", instance=self.name, reason=exc.reason)

    def _show(self, state: InstanceState, error: RelayError | None) -> None:
        changed = (state, error and error.code) != (self.state, self.error and self.error.code)
        self.state, self.error = state, error
        if state is InstanceState.RUNNING:
            self._pause_s = _FIRST_PAUSE_SECONDS
        if changed:
            _level(error)("instance_state", instance=self.name, state=state.value, error=str(error) if error else None)


def _level(error: RelayError | None) -> Callable[..., None]:
    """Return what writes a state: an error where an operator must act, a warning where somebody does not answer."""
    if isinstance(error, Stop | ConfigurationError):
        return _log.error
    return _log.warning if isinstance(error, Unreachable) else _log.info

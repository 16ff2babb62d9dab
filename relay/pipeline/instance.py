"""One instance's life: stand by, lead, publish, and what each error means for what comes next."""

import gc
import threading
from enum import StrEnum
from time import time
from typing import Final

import structlog

from relay.errors import (
    AskedToStop,
    BatchAborted,
    BrokerUnreachable,
    Fenced,
    HandedOver,
    LeadershipLost,
    MappingRefused,
    MessageTooLarge,
    NamesUnknown,
    PositionNewer,
    RelayError,
    RolledBackRows,
    Stop,
    SwitchRefused,
    Unreachable,
)
from relay.ha import AfterFence, Election, after_fence
from relay.pipeline.doubts import Doubts
from relay.pipeline.flow_control import FlowControl
from relay.pipeline.group_failover import GroupFailover
from relay.pipeline.lag import lag_seconds
from relay.pipeline.mapping_in_force import MappingInForce
from relay.pipeline.message_sizes import MessageSizes
from relay.pipeline.meter import Meter
from relay.pipeline.operator_call import OperatorCall
from relay.pipeline.session import Session
from relay.pipeline.source_failover import SourceFailover
from relay.pipeline.source_group import SourceGroup
from relay.pipeline.spooling import Spooling
from relay.pipeline.standby import Standby
from relay.pipeline.table_plan import row_printer
from relay.settings import InstanceSettings, RelaySettings
from relay.source import ExcludedRange
from relay.state import InstanceStatus, InstanceStore, MappingStore

_FIRST_PAUSE_SECONDS: Final = 0.2
_LONGEST_PAUSE_SECONDS: Final = 10.0
_KAFKA_PAUSE_SECONDS: Final = 1.0
"""Opening the producer waits for Kafka itself, and asks all the while: a long pause beside it would only miss its return."""
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
        self._election = election
        self._mapping = MappingInForce(mappings, instance.routing, self.mapping_changed)
        self._notes = notes
        self._call = OperatorCall(notes, instance.name)
        self._standby = Standby(settings, instance, self._mapping)
        self._session: Session | None = None
        self._sizes = MessageSizes(settings.kafka)
        self._flow = FlowControl(notes.flows, instance, self.meter.totals)
        self._group = SourceGroup(instance, instance.group) if instance.group is not None else None
        self._failover = self._new_failover(self._group)
        self._spooling = Spooling(settings.installation, instance, self.meter)
        self._excluded: list[ExcludedRange] = []
        self._doubts = Doubts()
        self._pause_s = _FIRST_PAUSE_SECONDS
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"instance-{instance.name}", daemon=True)

    def start(self) -> None:
        self._call.watch()
        self._flow.watch()
        self._thread.start()

    def ask_to_stop(self) -> None:
        """Let it end soon."""
        self._stop.set()
        self._election.wake()

    @property
    def unready(self) -> RelayError | None:
        """Why this relay could not take the instance over; None while it could, or leads."""
        if self.state in (InstanceState.STARTING, InstanceState.STANDBY):
            # Who does not know the record's format is no help, however well it could reach everything.
            return self.error if isinstance(self.error, PositionNewer) else self._standby.error
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
            remedy=error.way_out if error else "",
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
            sources={name: str(at.binlog) for name, at in record.positions.items()} if record and record.following else {},
            passed_over=len(self._group.passed) if self._group is not None else 0,
            row_printer=row_printer(self._instance.message),
            updated_ms=int(time() * 1000),
        )

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
        return lag_seconds(self.meter.reached, time(), self._instance.source.heartbeat_seconds)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._stand_by_and_lead()
            except AskedToStop as exc:
                _log.warning("stopped_without_answer", instance=self.name, reason=exc.reason)
            except RelayError as exc:
                self._after(exc)
            except BaseException:
                _log.exception("instance_died", instance=self.name)
                self._show(InstanceState.STOPPED, RelayError("An error that the relay does not know ended the instance."))
                raise
        if self.state not in (InstanceState.STANDBY, InstanceState.STOPPED):
            self._show(InstanceState.ENDED, None)
        self._leave()

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
        session = Session(
            self._settings,
            self._instance,
            self._election,
            self._mapping,
            self._notes,
            self.meter,
            self._sizes,
            self._excluded,
            self._call,
            self._flow,
            self._failover,
            self._spooling,
            self._doubts,
        )
        self._session = session
        try:
            session.run(self._stop, self._runs)
        except MessageTooLarge as exc:
            raise self._sizes.after_refusal(exc, self._instance.oversize, self.meter.totals.commits) from exc
        except Fenced as exc:
            self.meter.totals.fences += 1
            open_s, limit_s = session.open_seconds, self._instance.transaction.timeout_ms / 1000
            if after_fence(self._leads_for_sure(), open_s, limit_s) is AfterFence.NEW_PRODUCER:
                raise BatchAborted(f"The broker's timeout ended a transaction that was open for {open_s:.1f} s.") from exc
            raise

    def _runs(self) -> None:
        self._doubts.described()
        self._show(InstanceState.RUNNING, None)

    def _again(self, error: RelayError) -> None:
        """Errors that a new producer and a new connection mend; with growing pauses while nothing gets better."""
        if isinstance(error, RolledBackRows):
            self._excluded.append((error.file, error.from_offset, error.to_offset))
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
            self._failover.news(self._stop, self._pause_s)
            longest_s = _KAFKA_PAUSE_SECONDS if isinstance(error, BrokerUnreachable) else _LONGEST_PAUSE_SECONDS
            self._pause_s = min(2 * self._pause_s, longest_s)

    def _after(self, error: RelayError) -> None:
        """Errors that end this leadership, or the work altogether."""
        if isinstance(error, Fenced | LeadershipLost | Unreachable | PositionNewer) or not self._still_leads():
            self._show(InstanceState.STANDBY, error)
            self._leave()
            self._stop.wait(self._pause_s)
            return
        self._show(InstanceState.STOPPED, error)
        while not self._stop.wait(_STOPPED_LOOK_SECONDS) and not self._call.came():
            if not self._election.leads() or self._election.gives_way():
                self._hand_over()
                return

    def _let_go(self) -> None:
        """Free the session that ended: its errors and frames hold one another, and with them clients that have threads and connections."""
        if self._session is None:
            return
        self._session = None
        error: BaseException | None = self.error
        while error is not None:
            error.__traceback__, error = None, error.__context__
        gc.collect()

    def _leads_for_sure(self) -> bool:
        """Who cannot ask does not know."""
        try:
            return self._election.leads_synced()
        except Unreachable:
            return False

    def _still_leads(self) -> bool:
        """Who was paused meets the traces of its successor first: its server_id in use, a newer history. That is no error of its own."""
        try:
            return self._election.leads_synced()
        except Unreachable:
            return True

    def _leave(self) -> None:
        """Say the last word before another relay can have the first one."""
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
            level = _log.error if isinstance(error, Stop | MappingRefused) else _log.info
            level("instance_state", instance=self.name, state=state.value, error=str(error) if error else None)

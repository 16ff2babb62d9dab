"""The relay process: settings in, wired objects out. The only place that knows every class."""

import gc
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from time import time
from typing import Final

import structlog

from relay.allocator import return_large_buffers
from relay.compiled import CODE
from relay.deadline import Deadline
from relay.errors import (
    NodeMissing,
    RelayError,
    ResourcesExhausted,
    StoreRefused,
    StoreUnreachable,
    VersionConflict,
)
from relay.ha import AssignmentTable, Election
from relay.model.positions.position import file_number
from relay.model.table import TableId
from relay.pipeline import (
    AssignmentLoop,
    DesiredInstances,
    Instance,
    InstanceState,
    Supervisor,
    paths_of_tables,
)
from relay.settings import InstanceSettings, RelaySettings
from relay.signals import stop_on_signals
from relay.state import (
    Candidacy,
    DroppedName,
    InstanceDocumentStore,
    InstanceStore,
    MappingStore,
    Membership,
    Paths,
    PlacementStore,
    RelayMember,
)
from relay.telemetry import Answers, InstanceMetrics, ShownTotals, StatusServer, set_up_logging
from relay.telemetry.instance_gauges import show_status
from relay.telemetry.metrics import STORE_CONNECTED, STORE_SESSION_TIMEOUT, STORE_SESSIONS
from relay.threads import THREADS, Guard
from relay.zk import Session, SessionCloser

_AS_WANTED: Final = (InstanceState.RUNNING, InstanceState.STANDBY, InstanceState.PAUSED)
_ALLOCATIONS_PER_COLLECTION: Final = 200_000
_CONNECT_SECONDS: Final = 10.0
_STOP_SECONDS: Final = 20.0

_log = structlog.stdlib.get_logger(__name__)


def run(settings: RelaySettings, config: Path | None = None) -> int:
    """Relay until SIGTERM or SIGINT; the exit code is 0 when every instance ended in time.

    With the file that the settings come from, the session in ZooKeeper ends with the process, also
    where it is killed.
    """
    return_large_buffers()
    set_up_logging(settings.log)
    stop = threading.Event()
    stop_on_signals(stop)
    _log_printer()
    with ExitStack() as stack:
        closer = None if config is None else stack.enter_context(SessionCloser(config))
        session = stack.enter_context(_zookeeper(settings, stop, closer))
        if stop.is_set():
            return 0
        relay = Relay(settings, session)
        return relay.run(stop)


def _log_printer() -> None:
    """Log once which printer this process has, as a warning where it is the slow one."""
    if CODE.usable:
        _log.info("row_printer", form=CODE.path)
    else:
        remedy = (
            "Install a wheel with compiled modules, or a C compiler before `pip install`. Rows are "
            "complete either way, and slower."
        )
        _log.warning("row_printer", form=CODE.path, reason=CODE.reason, remedy=remedy)


class Relay:
    """The instances of one process, and what the process says about them."""

    def __init__(self, settings: RelaySettings, session: Session) -> None:
        paths = Paths.of(settings.zookeeper, settings.installation)
        self.name = f"{socket.gethostname()}-{os.getpid()}"
        self._settings = settings
        self._session = session
        self._notes = InstanceStore(session, paths)
        self._mappings = MappingStore(session, paths)
        self._started_ms = int(time() * 1000)
        assignments = AssignmentTable(self.name, settings.placement.rebalance_seconds)
        self._assignment_loop = AssignmentLoop(
            Membership(session, paths), PlacementStore(session, paths), assignments, self._member
        )
        self._assignments = assignments
        self._paths = paths
        self._desired = DesiredInstances(
            settings, InstanceDocumentStore(session, paths), self._notes, self.name
        )
        self._supervisor = Supervisor(self._instance, self._begin)
        self._status_url = ""
        self._dropped_shown: dict[str, frozenset[tuple[TableId, str]]] = {}
        self._tables_shown: dict[str, frozenset[str]] = {}
        self._metrics: dict[str, InstanceMetrics] = {}
        self._totals: dict[str, ShownTotals] = {}
        self._guard = Guard("status")

    @property
    def instances(self) -> tuple[Instance, ...]:
        """Return the instances that run in this process at the moment."""
        return self._supervisor.instances

    def _instance(self, settings: InstanceSettings) -> Instance:
        election = Election(
            self._session,
            self._paths.leader(settings.name),
            self.name,
            settings.name,
            self._assignments,
        )
        return Instance(self._settings, settings, election, self._mappings, self._notes)

    def _begin(self, instance: Instance) -> Callable[[], None]:
        """What an instance needs of the process while it runs.

        The metrics of a name go on where they stood.
        """
        metrics = self._metrics.setdefault(instance.name, InstanceMetrics(instance.name))
        self._totals[instance.name] = ShownTotals(metrics)
        return self._mappings.watch(instance.mapping_changed).cancel

    def run(self, stop: threading.Event) -> int:
        """Start everything, show it again and again, and stop everything in order."""
        server = self._status_server()
        self._status_url = server.url if server is not None else ""
        _collect_garbage_rarely()
        with self._guard:
            self._reconcile()
        self._assignment_loop.start()
        while not stop.wait(max(self._settings.status.refresh_seconds, self._guard.pause_s)):
            with self._guard:
                self._refresh()
        self._assignment_loop.leave()
        ended = self._supervisor.stop()
        self._show()
        self._assignment_loop.stop(_STOP_SECONDS)
        if server is not None:
            server.stop()
        return 0 if ended else 1

    def _refresh(self) -> None:
        if self._session.connected:
            self._reconcile()
            self._forget_removed()
        self._show()

    def _reconcile(self) -> None:
        """Start and stop instances as they are wanted.

        One that cannot be started now is tried again by the next call.
        """
        try:
            self._supervisor.reconcile(self._desired.settings())
        except ResourcesExhausted as exc:
            _log.error("instance_not_started", error=str(exc))

    def _show(self) -> None:
        """Tell ZooKeeper and the metrics; an outage of ZooKeeper is not an outage of the stream."""
        try:
            for instance in self.instances:
                # Who stands by is silent, and who has ended said so before another relay could
                # lead.
                if instance.state not in (InstanceState.STANDBY, InstanceState.ENDED):
                    self._notes.put_status(instance.status(self.name))
                    self._show_dropped(instance)
                    self._show_tables(instance)
        except (StoreUnreachable, StoreRefused, VersionConflict, NodeMissing) as exc:
            _log.warning("status_not_shown", reason=exc.reason)
        for instance in self.instances:
            self._show_metrics(instance)
        STORE_CONNECTED.set(self._session.connected)
        STORE_SESSIONS.set(self._session.sessions)
        STORE_SESSION_TIMEOUT.set(self._session.timeout_ms / 1000)

    def _forget_removed(self) -> None:
        """Take away the metrics of instances that have ended because nobody wants them any more."""
        for name in self._metrics.keys() - {instance.name for instance in self.instances}:
            self._metrics.pop(name).remove()
            self._totals.pop(name)

    def _member(self) -> RelayMember:
        return RelayMember(
            name=self.name,
            host=socket.gethostname(),
            pid=os.getpid(),
            status_url=self._status_url,
            instances=tuple(instance.name for instance in self.instances),
            started_ms=self._started_ms,
            server=self._settings.placement.server or socket.gethostname(),
            session_timeout_ms=self._session.timeout_ms,
            candidacies=tuple(_candidacy(instance) for instance in self.instances),
        )

    def _show_metrics(self, instance: Instance) -> None:
        metrics, status = self._metrics[instance.name], instance.status(self.name)
        show_status(metrics, status.to_fields())
        if status.position_file:
            metrics.position_file.set(file_number(status.position_file))
        metrics.dropped_names.set(len({table for table, _ in list(instance.stats.dropped)}))
        self._totals[instance.name].show(instance.stats.totals)

    def _show_dropped(self, instance: Instance) -> None:
        """List the names that are left out when there is a new one.

        Row counts alone are not worth a write.
        """
        names = frozenset(instance.stats.dropped)
        if self._dropped_shown.get(instance.name) != names:
            self._notes.put_dropped(instance.name, _dropped(instance))
            self._dropped_shown[instance.name] = names

    def _show_tables(self, instance: Instance) -> None:
        """List the tables that were met, now or by an earlier relay, for dry runs of mapping
        edits.
        """
        met = frozenset(map(str, frozenset(instance.stats.tables)))
        shown = self._tables_shown.get(instance.name)
        if not met or (shown is not None and met <= shown):
            return
        known = met | (
            shown if shown is not None else frozenset(self._notes.tables_of(instance.name))
        )
        self._notes.put_tables(instance.name, known)
        self._tables_shown[instance.name] = known

    def _status_server(self) -> StatusServer | None:
        if self._settings.status.port is None:
            return None
        answers = Answers(
            unhealthy=self._unhealthy,
            unready=self._unready,
            statuses=self._statuses,
        )
        server = StatusServer(
            self._settings.status.host,
            self._settings.status.port,
            answers,
            self._settings.status.hosts,
        )
        server.start()
        _log.info("status_server", url=server.url)
        return server

    def _statuses(self) -> list[dict[str, object]]:
        granted = {"zookeeper_session_timeout_ms": self._session.timeout_ms}
        return [
            {
                **instance.status(self.name).to_fields(),
                "tables": paths_of_tables(instance.stats.printed),
                **granted,
            }
            for instance in self.instances
        ]

    def _unhealthy(self) -> str | None:
        """Why the process should be started again: a thread of it died, or its main loop fails."""
        dead = [f"thread {name} died ({error})" for name, error in THREADS.dead.items()]
        if self._guard.error is not None:
            dead.append(f"the instances are not shown ({self._guard.error!r})")
        return f"{'; '.join(dead)}." if dead else None

    def _unready(self) -> str | None:
        waiting = [each.name for each in self.instances if each.state not in _AS_WANTED]
        return f"Not running: {', '.join(waiting)}." if waiting else None


def _candidacy(instance: Instance) -> Candidacy:
    error = instance.unready
    return Candidacy(
        instance.name,
        instance.preferred_servers,
        error.code if error else "",
        error.reason if error else "",
    )


def _dropped(instance: Instance) -> list[DroppedName]:
    return [
        DroppedName(str(table), reason, rows)
        for (table, reason), rows in list(instance.stats.dropped.items())
    ]


@contextmanager
def _zookeeper(
    settings: RelaySettings, stop: threading.Event, closer: SessionCloser | None
) -> Iterator[Session]:
    """A session, waited for as long as it takes: a start without ZooKeeper waits and says so."""
    session = Session(settings.zookeeper, on_session=None if closer is None else closer.note)
    while not stop.is_set():
        try:
            session.start(Deadline.after(_CONNECT_SECONDS))
            break
        except StoreUnreachable as exc:
            _log.warning("waiting_for_zookeeper", error=str(exc))
    try:
        yield session
    finally:
        with suppress(RelayError):
            session.stop()


def _collect_garbage_rarely() -> None:
    """Rows hold no cycles and are freed without the collector, which would walk over everything in
    the buffer time and again.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS_PER_COLLECTION, *gc.get_threshold()[1:])

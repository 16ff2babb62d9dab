"""One relay: creates its objects from the settings, connects them, runs them and stops them."""

import gc
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from time import time
from typing import Final, NamedTuple, Protocol

import structlog

from relay.app.shown_instances import ShownInstances
from relay.compiled import CODE
from relay.deadline import Deadline
from relay.errors import (
    RelayError,
    ResourcesExhausted,
    StoreUnreachable,
)
from relay.ha import AssignmentTable, Election
from relay.pipeline import (
    AssignmentLoop,
    DesiredInstances,
    Instance,
    InstanceState,
    Supervisor,
)
from relay.settings import InstanceSettings, RelaySettings, StatusSettings
from relay.state import (
    InstanceDocumentStore,
    InstanceStore,
    MappingStore,
    Membership,
    Paths,
    PlacementStore,
    RelayMember,
    RunnableInstance,
)
from relay.telemetry import Answers, StatusServer
from relay.threads import THREADS, Guard
from relay.zk import Session, SessionCloser

_AS_WANTED: Final = (InstanceState.RUNNING, InstanceState.STANDBY, InstanceState.PAUSED)
_ALLOCATIONS_PER_COLLECTION: Final = 200_000
_CONNECT_SECONDS: Final = 10.0
_STOP_SECONDS: Final = 20.0

_log = structlog.stdlib.get_logger(__name__)


class Part(NamedTuple):
    """A worker's identity: its parent's name, its number (from 1), and the number of workers."""

    program: str
    number: int
    workers: int


class StatusFront(Protocol):
    """The interface by which other programs request the relay's health, status and metrics."""

    def open(self, answers: Answers) -> str:
        """Begin to answer requests with `answers`; return the URL, or "" without a server."""
        ...

    def close(self) -> None:
        """Stop answering requests."""
        ...


class HttpFront:
    """The HTTP server for health, status and metrics, if the settings have a port."""

    def __init__(self, settings: StatusSettings) -> None:
        self._settings = settings
        self._server: StatusServer | None = None

    def open(self, answers: Answers) -> str:
        """Start the HTTP server, if the settings have a port; return its address or "". Raises
        ConfigurationError.
        """
        settings = self._settings
        if settings.port is None:
            return ""
        server = StatusServer(settings.host, settings.port, answers, settings.hosts)
        server.start()
        self._server = server
        _log.info("status_server_started", url=server.url)
        return server.url

    def close(self) -> None:
        """Stop the HTTP server, if `open` started one."""
        if self._server is not None:
            self._server.stop()


def relay_until(
    stop: threading.Event,
    settings: RelaySettings,
    closer: SessionCloser | None,
    front: StatusFront,
    part: Part | None = None,
) -> int:
    """Run a relay until `stop` is set. Return 0 if every instance ended in time, otherwise 1.

    closer  ends the session in ZooKeeper if this process is killed; None: it ends after its timeout
    front   how other programs request health, status and metrics
    part    identity of a worker; None: this process is not a worker
    """
    _log_printer()
    with ExitStack() as stack:
        if closer is not None:
            stack.enter_context(closer)
        session = stack.enter_context(_zookeeper(settings, stop, closer))
        if stop.is_set():
            return 0
        return Relay(settings, session, front, part).run(stop)


def _log_printer() -> None:
    """Log once which printer this process has, as a warning where it is the slow one."""
    if CODE.usable:
        _log.info("row_printer_chosen", form=CODE.path)
    else:
        remedy = (
            "Install a wheel with compiled modules, or a C compiler before `pip install`. "
            "Without them the relay publishes the same messages, but more slowly."
        )
        _log.warning("row_printer_chosen", form=CODE.path, reason=CODE.reason, remedy=remedy)


class Relay:
    """The instances of one process. Starts and stops them until the process ends."""

    def __init__(
        self,
        settings: RelaySettings,
        session: Session,
        front: StatusFront,
        part: Part | None = None,
    ) -> None:
        paths = Paths.of(settings.zookeeper, settings.installation)
        self.name = f"{socket.gethostname()}-{os.getpid()}"
        self._settings = settings
        self._session = session
        self._front = front
        self._part = part or Part("", 0, 1)
        self._notes = InstanceStore(session, paths)
        self._mappings = MappingStore(session, paths)
        self._started_ms = int(time() * 1000)
        assignments = AssignmentTable(self.name, settings.placement.rebalance_seconds)
        self._assignment_loop = AssignmentLoop(
            Membership(session, paths),
            PlacementStore(session, paths),
            assignments,
            self._member,
            self._part.workers,
        )
        self._assignments = assignments
        self._paths = paths
        self._desired = DesiredInstances(
            settings, InstanceDocumentStore(session, paths), self._notes, self.name
        )
        self._supervisor = Supervisor(self._instance, self._begin)
        self._status_url = ""
        self._shown = ShownInstances(self.name, session, self._notes)
        self._guard = Guard("status")

    @property
    def instances(self) -> tuple[Instance, ...]:
        """Return the instances that run in this process now."""
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
        """Register an instance in the process; return the function to call when it ends."""
        self._shown.begin(instance)
        return self._mappings.watch(instance.mapping_changed).cancel

    def run(self, stop: threading.Event) -> int:
        """Start everything, refresh it at intervals until `stop` is set, and stop it. Return the
        exit code.
        """
        self._status_url = self._front.open(
            Answers(
                unhealthy=self._unhealthy,
                unready=self._unready,
                statuses=lambda: self._shown.statuses(self.instances),
            )
        )
        _collect_garbage_rarely()
        with self._guard:
            self._reconcile()
        self._assignment_loop.start()
        while not stop.wait(max(self._settings.status.refresh_seconds, self._guard.pause_s)):
            with self._guard:
                self._refresh()
        self._assignment_loop.leave()
        ended = self._supervisor.stop()
        self._shown.show(self.instances)
        self._assignment_loop.stop(_STOP_SECONDS)
        self._front.close()
        return 0 if ended else 1

    def _refresh(self) -> None:
        if self._session.connected:
            self._reconcile()
            self._shown.forget_removed(self.instances)
        self._shown.show(self.instances)

    def _reconcile(self) -> None:
        """Start and stop instances until those that run are the configured ones.

        An instance that cannot be started now is tried again by the next call.
        """
        try:
            self._supervisor.reconcile(self._desired.settings())
        except ResourcesExhausted as exc:
            _log.error("instance_not_started", error=str(exc))

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
            candidacies=tuple(_runnable(instance) for instance in self.instances),
            program=self._part.program,
            worker=self._part.number,
        )

    def _unhealthy(self) -> str | None:
        """Return why the process should be restarted, None if it is healthy.

        A thread of it died, or its main loop fails.
        """
        dead = THREADS.deaths
        if self._guard.error is not None:
            dead.append(f"the instances are not shown ({self._guard.error!r})")
        return f"{'; '.join(dead)}." if dead else None

    def _unready(self) -> str | None:
        waiting = [each.name for each in self.instances if each.state not in _AS_WANTED]
        return f"Not running: {', '.join(waiting)}." if waiting else None


def _runnable(instance: Instance) -> RunnableInstance:
    error = instance.unready
    return RunnableInstance(
        instance.name,
        instance.preferred_servers,
        error.code if error else "",
        error.reason if error else "",
    )


@contextmanager
def _zookeeper(
    settings: RelaySettings, stop: threading.Event, closer: SessionCloser | None
) -> Iterator[Session]:
    """Yield a ZooKeeper session.

    A start without ZooKeeper waits without a limit and logs this.
    """
    session = Session(settings.zookeeper, on_session=None if closer is None else closer.note)
    while not stop.is_set():
        try:
            session.start(Deadline.after(_CONNECT_SECONDS))
            break
        except StoreUnreachable as exc:
            _log.warning("zookeeper_not_reached", error=str(exc))
    try:
        yield session
    finally:
        with suppress(RelayError):
            session.stop()


def _collect_garbage_rarely() -> None:
    """Let the garbage collector run rarely. Rows have no reference cycles and are freed without it,
    and each run would visit every object in the buffer.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS_PER_COLLECTION, *gc.get_threshold()[1:])

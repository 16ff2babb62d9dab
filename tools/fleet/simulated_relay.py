"""A relay without sources: it takes part in placement and elections, and writes statuses."""

import threading
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic, time
from typing import Final

from relay.app.status_writes import StatusWrites
from relay.errors import RelayError
from relay.ha import AssignmentTable, Election
from relay.pipeline import AssignmentLoop
from relay.state import (
    InstanceStatus,
    InstanceStore,
    Membership,
    Paths,
    PlacementStore,
    RelayMember,
    RunnableInstance,
)
from relay.threads import RelayThread
from relay.zk import Session

REFRESH_SECONDS: Final = 1.0
"""As `status.refresh_seconds` of the settings."""
_STOP_SECONDS: Final = 20.0


class SimulatedRelay:
    """Leads instances without publishing. One separate thread serves all of them.

    A real relay has one thread for each instance, which waits for the same signals.
    """

    def __init__(
        self, name: str, session: Session, paths: Paths, instances: tuple[str, ...]
    ) -> None:
        self.name = name
        self._names = instances
        self._started_ms = int(time() * 1000)
        self._table = AssignmentTable(name, rebalance_seconds=5.0)
        self._store = InstanceStore(session, paths)
        self._loop = AssignmentLoop(
            Membership(session, paths), PlacementStore(session, paths), self._table, self._member
        )
        self._elections = {
            each: Election(session, paths.leader(each), name, each, self._table)
            for each in instances
        }
        self._candidacies = tuple(RunnableInstance(each) for each in instances)
        self._due: SimpleQueue[str] = SimpleQueue()
        self._led: dict[str, int] = {}
        self._epoch = 0
        self._writes = StatusWrites({})
        self._stop = threading.Event()
        self._thread = RelayThread("instance", name, self._run)

    def start(self) -> None:
        """Register the relay and begin to take instances."""
        for each in self._names:
            self._table.on_change(each, partial(self._due.put, each))
            self._due.put(each)
        self._loop.start()
        self._thread.start()

    def leave(self) -> None:
        """Announce the end of this relay, so that others can prepare, then release all
        instances.
        """
        self._loop.leave()
        self._stop.set()
        self._thread.join(_STOP_SECONDS)
        self._loop.stop(_STOP_SECONDS)

    def _member(self) -> RelayMember:
        return RelayMember(
            self.name,
            instances=self._names,
            started_ms=self._started_ms,
            server=self.name,
            candidacies=self._candidacies,
        )

    def _run(self) -> None:
        refresh_at_s = monotonic()
        while not self._stop.is_set():
            if (left_s := refresh_at_s - monotonic()) <= 0:
                refresh_at_s = monotonic() + REFRESH_SECONDS
                self._despite_errors(self._refresh)
                continue
            try:
                name = self._due.get(timeout=left_s)
            except Empty:
                continue
            self._despite_errors(partial(self._serve, name))
        for name in tuple(self._led):
            self._despite_errors(partial(self._resign, name))

    def _serve(self, name: str) -> None:
        """Take an instance if this relay may, or hand it over if it should."""
        election = self._elections[name]
        if name not in self._led:
            if election.wait_until_leading(self._stop, 0):
                self._epoch += 1
                self._led[name] = self._epoch
        elif not election.leads():
            del self._led[name]
            self._due.put(name)
        elif election.gives_way() is not None:
            self._resign(name)

    def _resign(self, name: str) -> None:
        self._led.pop(name)
        self._elections[name].resign()

    def _refresh(self) -> None:
        """Write the statuses that are due, and check the election of each led instance."""
        statuses = [self._status(name, epoch) for name, epoch in self._led.items()]
        written: list[InstanceStatus] = []
        try:
            for status in self._writes.chosen(statuses):
                self._store.put_status(status)
                written.append(status)
        finally:
            self._writes = self._writes.after(statuses, written)
        for name in tuple(self._led):
            self._serve(name)

    def _status(self, name: str, epoch: int) -> InstanceStatus:
        return InstanceStatus(
            name,
            "RUNNING",
            relay=self.name,
            epoch=epoch,
            mapping_set=1,
            position_file="mysql-bin.000042",
            position_offset=4_711,
            gtid_set="3e11fa47-71ca-11e1-9e33-c80aa9429562:1-4711000",
            lag_seconds=0.2,
            updated_ms=int(time() * 1000),
        )

    def _despite_errors(self, do: Callable[[], None]) -> None:
        """ZooKeeper restarts during a simulation. Failed calls are repeated at the next refresh."""
        try:
            do()
        except RelayError:
            self._stop.wait(0.1)

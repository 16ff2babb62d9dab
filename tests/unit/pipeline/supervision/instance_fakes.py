"""An instance whose servers are values: each fake writes what it was asked for into one journal."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from relay.errors import BinlogPurged, RelayError, StoreUnreachable
from relay.ha import Assignment
from relay.pipeline.spooling.spool_view import SpoolView
from relay.pipeline.supervision import instance as instance_module
from relay.pipeline.supervision import instance_context
from relay.pipeline.supervision.instance import Instance
from relay.settings import RelaySettings
from relay.state import Flow, FlowStore, InstanceStatus, InstanceStore, MappingStore

SETTINGS = RelaySettings.model_validate(
    {
        "kafka": {"bootstrap_servers": "nowhere:1"},
        "zookeeper": {"hosts": "nowhere:1"},
        "instances": [{"name": "shop", "source": {"host": "nowhere", "user": "u"}}],
    }
)


class FakeElection:
    """Leads as soon as it is asked to; `silent`: ZooKeeper does not answer."""

    member = "me"
    undecided = False
    leading_since_ms: int | None = None

    def __init__(self, journal: list[str]) -> None:
        self.leading = self.silent = False
        self.assignment: Assignment | None = None
        self.before_resigning: Callable[[], object] = lambda: None
        self._journal = journal

    def wait_until_leading(self, stop: threading.Event, _: float) -> bool:
        self.leading = not stop.is_set()
        return self.leading

    def leads(self, *, for_certain: bool = False) -> bool:
        return self.leading and not (for_certain and self.silent)

    def is_confirmed(self) -> bool:
        return self.leads_synced()

    def leads_synced(self) -> bool:
        if self.silent:
            raise StoreUnreachable("away")
        return self.leading

    def gives_way(self) -> Assignment | None:
        return self.assignment

    def resign(self) -> None:
        self.before_resigning()
        self.leading, self.assignment = False, None
        self._journal.append("resigns")

    def wake(self) -> None:
        pass


class FakeSpooling:
    """A spool that only says when it is used."""

    enabled = False
    view = SpoolView()

    def __init__(self, journal: list[str]) -> None:
        self._journal = journal

    @contextmanager
    def leading(self) -> Iterator[None]:
        self._journal.append("leads")
        yield
        self._journal.append("leads no more")

    def begin(self) -> None:
        self._journal.append("spools")

    def rest(self) -> None:
        self._journal.append("spool rests")

    def explained(self, error: BinlogPurged) -> BinlogPurged:
        return BinlogPurged(f"{error.reason} The spool was cut.")


@dataclass
class Notes:
    """The instance's documents in ZooKeeper; `statuses` are those that were written."""

    flow: Flow = field(default_factory=Flow)
    statuses: list[InstanceStatus] = field(default_factory=list)
    flow_changed: threading.Event = field(default_factory=threading.Event)

    def store(self) -> InstanceStore:
        notes = self

        class Flows(FlowStore):
            def __init__(self) -> None: ...
            def read(self, _: str) -> Flow:
                return notes.flow

            def watch(self, _: str, signal: threading.Event) -> Any:
                notes.flow_changed = signal

        class Store(InstanceStore):
            def __init__(self) -> None:
                self.flows = Flows()
                self.failover: Any = None

            def put_status(self, status: InstanceStatus) -> None:
                notes.statuses.append(status)

            def watch_calls(self, _: str, __: threading.Event) -> Any: ...

        return Store()


class Bench:
    """One instance, and the script of its sessions: an error that a session ends with, or a call
    that runs in it.

    After the script the instance is asked to stop.
    """

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, *script: Exception | Callable[[Any], object]
    ) -> None:
        self.journal: list[str] = []
        self.election = FakeElection(self.journal)
        self.notes = Notes()
        self.seconds: list[float] = []
        self.memory: Any = None
        self._script = iter(script)
        self.done = threading.Event()
        fakes: dict[str, Any] = {
            "Waits": lambda *_: self._waits(),
            "TakeoverProbe": lambda *_: _Probe(),
            "UnloggedCascades": lambda _: _Cascades(),
        }
        for name, fake in fakes.items():
            monkeypatch.setattr(instance_module, name, fake)
        monkeypatch.setattr(
            instance_context, "SpoolController", lambda *_: FakeSpooling(self.journal)
        )
        election: Any = self.election
        store: Any = MappingStore.__new__(MappingStore)
        session: Any = self.open
        self.instance = Instance(
            SETTINGS, SETTINGS.instances[0], election, store, self.notes.store(), session
        )

    def run(self) -> list[str]:
        """Run the script to its end; return the journal."""
        self.instance.start()
        assert self.done.wait(20), self.journal
        assert self.instance.stop(20), self.journal
        return self.journal

    def shown(self) -> str:
        error = self.instance.error
        return str(self.instance.state) + (f" {error.code}" if error is not None else "")

    def _waits(self) -> Any:
        bench = self

        class Waits:
            def run_begins(self) -> None: ...
            def pause(self, decided: Any) -> None:
                bench.journal.append(f"{bench.shown()}, pauses")
                bench.seconds.append(decided.seconds)

            def halt(self, _: Any) -> None:
                bench.journal.append(f"{bench.shown()}, halts")

            def rest(self, seconds: float) -> None:
                bench.journal.append(f"{bench.shown()}, rests")
                bench.seconds.append(seconds)

        return Waits()

    def open(self, _: Any, memory: Any) -> Any:
        bench, self.memory = self, memory

        class FakeSession:
            buffer = None
            open_seconds = 0.0

            def run(self, stop: threading.Event, running: Callable[[], None]) -> None:
                act = next(bench._script, None)
                if isinstance(act, Exception):
                    bench.journal.append("session")
                    raise act
                running()
                bench.journal.append(bench.shown())
                if act is not None:
                    act(self)
                else:
                    bench.done.set()
                    stop.wait()

        return FakeSession()


class _Probe:
    error: RelayError | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        yield


class _Cascades:
    words = ""

    def watch(self, *_: object) -> None: ...

"""Each wait of an instance ends with what can end its cause, and with a stop."""

import threading
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from relay.errors import RelayError, StoreUnreachable
from relay.ha import Election
from relay.pipeline.supervision.recovery import waits as module
from relay.pipeline.supervision.recovery.leadership import confirmed, still_leads
from relay.pipeline.supervision.recovery.outcomes import (
    Backoff,
    Halt,
    HaltEnd,
    RestartFrom,
    Retry,
    Wait,
)
from relay.pipeline.supervision.recovery.waits import Waits

ERROR, BACKOFF = RelayError("x"), Backoff()


class Clock(threading.Event):
    """A stop whose waits take no time; `at_s` is what they came to."""

    def __init__(self, events: dict[float, Callable[[], object]]) -> None:
        super().__init__()
        self.at_s = 0.0
        self._events = events

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.at_s += timeout
        for at_s in [each for each in self._events if each <= self.at_s + 1e-9]:
            self._events.pop(at_s)()
        return self.is_set()


class World:
    """What the waits look at; each event happens at its second."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **events: float) -> None:
        self.news = self.called = self.mapping_saved = self.gives_way = False
        self.leading, self.login = True, "first"
        self.mapping_changed = threading.Event()
        self.stop = Clock({at_s: self._happening(name) for name, at_s in events.items()})
        monkeypatch.setattr("relay.deadline.monotonic", lambda: self.stop.at_s)
        monkeypatch.setattr(module, "login_state", lambda _: (self.login,))
        context: Any = SimpleNamespace(
            instance=None,
            election=SimpleNamespace(leads=lambda: self.leading, gives_way=lambda: self.gives_way),
            mapping=SimpleNamespace(has_news=lambda: self.mapping_saved),
            call=SimpleNamespace(pending=lambda: self.called),
        )
        failover: Any = SimpleNamespace(
            wait_for_news=lambda stop, seconds: stop.wait(seconds) or self.news
        )
        self.waits = Waits(context, failover, self.mapping_changed, self.stop)
        self.waits.run_begins()

    def _happening(self, name: str) -> Callable[[], object]:
        match name:
            case "stopped":
                return self.stop_now
            case "mapping":
                return self.save_mapping
            case "deposed":
                return partial(setattr, self, "leading", False)
            case "login":
                return partial(setattr, self, name, "second")
            case _:
                return partial(setattr, self, name, True)

    def stop_now(self) -> None:
        self.stop.set()

    def save_mapping(self) -> None:
        self.mapping_saved = True
        self.mapping_changed.set()


EVENTS = ["news", "called", "mapping", "login", "gives_way", "deposed", "stopped"]
PAUSES = {
    Wait.MAPPING: {"news", "called", "mapping", "stopped"},
    Wait.CONTEST: {"called", "gives_way", "deposed", "stopped"},
}
HALTS = {
    HaltEnd.OPERATOR: {"called", "gives_way", "deposed", "stopped"},
    HaltEnd.SERVERS: {"news", "called", "gives_way", "deposed", "stopped"},
    HaltEnd.MAPPING: {"mapping", "called", "gives_way", "deposed", "stopped"},
    HaltEnd.LOGIN: {"login", "called", "gives_way", "deposed", "stopped"},
}


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("wait", PAUSES)
def test_a_pause_ends_with_its_time_or_with_its_event(
    monkeypatch: pytest.MonkeyPatch, wait: Wait, event: str
) -> None:
    world = World(monkeypatch, **{event: 3.0})
    world.waits.pause(Retry(ERROR, 10.0, BACKOFF, wait))
    assert world.stop.at_s == pytest.approx(3.0 if event in PAUSES[wait] else 10.0, abs=0.21)


@pytest.mark.parametrize("decided", [RestartFrom(ERROR, 1.6, BACKOFF), Retry(ERROR, 1.6, BACKOFF)])
def test_a_pause_for_servers_is_the_failovers(
    monkeypatch: pytest.MonkeyPatch, decided: Retry | RestartFrom
) -> None:
    world = World(monkeypatch)
    world.waits.pause(decided)
    assert world.stop.at_s == 1.6


def test_a_refused_clock_is_waited_for_until_news_come(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, news=3.0)
    world.waits.pause(Retry(ERROR, 0.2, BACKOFF, Wait.CLOCK))
    assert world.stop.at_s == 3.0


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("end", HALTS)
def test_a_halt_ends_with_its_events_only(
    monkeypatch: pytest.MonkeyPatch, end: HaltEnd, event: str
) -> None:
    world = World(
        monkeypatch, **{event: 3.0, "stopped": 60.0} if event != "stopped" else {"stopped": 3.0}
    )
    world.waits.halt(Halt(ERROR, BACKOFF, end))
    assert world.stop.at_s == pytest.approx(3.0 if event in HALTS[end] else 60.0, abs=0.21)


@pytest.mark.parametrize(
    ("leads", "certain", "synced", "expected"),
    [
        (True, True, True, True),
        (True, True, False, False),
        (True, True, None, None),
        (True, False, False, True),
        (False, False, True, False),
    ],
    ids=["confirmed", "taken away", "no answer", "cut off for long", "session lost"],
)
def test_leadership_after_an_error(
    leads: bool, certain: bool, synced: bool | None, expected: bool | None
) -> None:
    election = election_that(leads, certain, synced)
    assert still_leads(election, threading.Event()) is expected
    assert confirmed(election) is synced


def test_an_undecided_leadership_is_waited_for_until_a_stop() -> None:
    election: Any = election_that(leads=True, certain=False, synced=None)
    election.undecided = True
    stop = Clock({1.0: lambda: setattr(election, "undecided", False)})
    assert still_leads(election, stop) is True
    assert stop.at_s == pytest.approx(1.0)


def election_that(leads: bool, certain: bool, synced: bool | None) -> Election:
    """An election: what is known here, whether the connection stands, and ZooKeeper's answer."""

    class Asked(Election):
        undecided = False

        def __init__(self) -> None: ...
        def leads(self, *, for_certain: bool = False) -> bool:
            return certain if for_certain else leads

        def leads_synced(self) -> bool:
            if synced is None:
                raise StoreUnreachable("away")
            return synced

    return Asked()

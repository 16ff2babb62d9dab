"""The supervisor starts, ends and restarts instances until those that run are the desired ones, and
never waits for one of them.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from relay.errors import ResourcesExhausted
from relay.pipeline.supervision.supervisor import Supervisor
from relay.settings import InstanceSettings

Settings = Mapping[str, InstanceSettings]


def settings(**hosts: str) -> dict[str, InstanceSettings]:
    """Instances by name; another host is another setting."""
    return {
        name: InstanceSettings.model_validate({"name": name, "source": {"host": host, "user": "u"}})
        for name, host in hosts.items()
    }


class FakeInstance:
    """`drains`: how many questions it still answers with "not yet" after it was asked to stop."""

    def __init__(
        self, own: InstanceSettings, journal: list[str], drains: int, starts: bool
    ) -> None:
        self.name = own.name
        self.died = False
        self._own = own
        self._journal = journal
        self._drains = drains
        self._starts = starts

    def start(self) -> None:
        if not self._starts:
            raise ResourcesExhausted("no thread")
        self._journal.append(f"{self.name} starts at {self._own.source.host}")

    def ask_to_stop(self) -> None:
        self._journal.append(f"{self.name} is asked to stop")

    def stop(self, _: float) -> bool:
        self._drains -= 1
        return self._drains < 0


class Bench:
    """A supervisor of fake instances."""

    def __init__(self, drains: int = 0) -> None:
        self.journal: list[str] = []
        self.drains = drains
        self.starts = True
        self.supervisor = Supervisor(self._make, self._begin)

    def _make(self, own: InstanceSettings) -> Any:
        return FakeInstance(own, self.journal, self.drains, self.starts)

    def _begin(self, instance: Any) -> Callable[[], None]:
        self.journal.append(f"{instance.name} is watched")
        return lambda: self.journal.append(f"{instance.name} is watched no more")

    def reconciled(self, desired: Settings) -> list[str]:
        """What a reconciliation does."""
        before = len(self.journal)
        self.supervisor.reconcile(desired)
        return self.journal[before:]


def test_what_lacks_is_started_and_what_runs_is_left_alone() -> None:
    bench = Bench()
    assert bench.reconciled(settings(b="one", a="one")) == [
        "b is watched",
        "b starts at one",
        "a is watched",
        "a starts at one",
    ]
    assert [each.name for each in bench.supervisor.instances] == ["a", "b"]
    assert bench.reconciled(settings(a="one", b="one")) == []


def test_an_instance_that_is_no_longer_desired_is_ended_without_waiting() -> None:
    bench = Bench(drains=2)
    bench.reconciled(settings(a="one"))
    assert [bench.reconciled({}) for _ in range(4)] == [[], [], ["a is watched no more"], []]
    assert bench.supervisor.instances == ()


def test_changed_settings_end_an_instance_before_its_successor_starts() -> None:
    bench = Bench(drains=1)
    bench.reconciled(settings(a="one", b="one"))
    assert bench.reconciled(settings(a="two", b="one")) == []
    assert bench.reconciled(settings(a="two", b="one")) == [
        "a is watched no more",
        "a is watched",
        "a starts at two",
    ]


def test_settings_that_are_changed_back_while_it_drains_start_nothing_twice() -> None:
    bench = Bench(drains=1)
    bench.reconciled(settings(a="one"))
    bench.reconciled(settings(a="two"))
    assert bench.reconciled(settings(a="one")) == []
    assert [each.name for each in bench.supervisor.instances] == ["a"]


def test_an_instance_whose_thread_died_is_replaced() -> None:
    bench = Bench()
    bench.reconciled(settings(a="one"))
    dead: Any = bench.supervisor.instances[0]
    dead.died = True
    with capture_logs() as logged:
        assert bench.reconciled(settings(a="one")) == [
            "a is watched no more",
            "a is watched",
            "a starts at one",
        ]
    (ended,) = (entry for entry in logged if entry["event"] == "instance_ended")
    assert ended["reason"] == "its thread ended"


def test_one_that_cannot_be_started_now_is_started_by_a_later_reconciliation() -> None:
    bench = Bench()
    bench.starts = False
    with pytest.raises(ResourcesExhausted):
        bench.reconciled(settings(a="one"))
    assert bench.journal == ["a is watched", "a is watched no more"]
    assert bench.supervisor.instances == ()
    bench.starts = True
    assert bench.reconciled(settings(a="one")) == ["a is watched", "a starts at one"]


@pytest.mark.parametrize(("drains", "in_time"), [(0, True), (1, False)])
def test_at_the_end_all_are_asked_before_one_is_waited_for(drains: int, in_time: bool) -> None:
    bench = Bench(drains)
    bench.reconciled(settings(a="one", b="one"))
    before = len(bench.journal)
    assert bench.supervisor.stop() is in_time
    assert bench.journal[before:] == [
        "a is asked to stop",
        "b is asked to stop",
        "a is watched no more",
        "b is watched no more",
    ]


@given(
    st.lists(st.dictionaries(st.sampled_from("abc"), st.sampled_from(["one", "two"]))),
    st.integers(0, 2),
)
def test_it_converges_to_what_is_desired_and_never_runs_a_name_twice(
    wishes: list[dict[str, str]], drains: int
) -> None:
    bench = Bench(drains)
    for desired in wishes:
        bench.reconciled(settings(**desired))
        names = [each.name for each in bench.supervisor.instances]
        assert len(names) == len(set(names))
    last = wishes[-1] if wishes else {}
    for _ in range(drains + 1):
        bench.reconciled(settings(**last))
    assert [each.name for each in bench.supervisor.instances] == sorted(last)
    assert bench.reconciled(settings(**last)) == []

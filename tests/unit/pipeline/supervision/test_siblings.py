"""A worker waits for the others of its program before its first plan, and not for ever."""

import pytest

from relay.pipeline.supervision import assignment_loop
from relay.pipeline.supervision.assignment_loop import Siblings
from relay.state import RelayMember


def member(name: str, program: str = "h-1") -> RelayMember:
    return RelayMember(name, program=program)


def test_a_relay_without_workers_waits_for_nobody() -> None:
    assert Siblings(1).are_there(member("h-1", ""), [member("h-1", "")])


def test_a_worker_waits_until_all_of_its_program_are_registered() -> None:
    siblings, own = Siblings(2), member("h-2")
    assert not siblings.are_there(own, [own])
    assert not siblings.are_there(own, [own, member("g-9", "g-8"), member("g-7", "")])
    assert siblings.are_there(own, [own, member("h-3")])
    assert siblings.are_there(own, [own]), "a worker that ends later does not matter"


def test_it_waits_for_seconds_only(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0
    monkeypatch.setattr(assignment_loop, "monotonic", lambda: now_s)
    siblings, own = Siblings(2), member("h-2")
    assert not siblings.are_there(own, [own])
    now_s += 2.9
    assert not siblings.are_there(own, [own])
    now_s += 0.2
    assert siblings.are_there(own, [own])

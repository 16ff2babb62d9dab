"""One list of statuses from those of several workers."""

import pytest

from relay.app.workers.union import union
from relay.pipeline import InstanceState


def status(name: str, state: str, relay: str, code: str = "") -> dict[str, object]:
    return {"name": name, "state": state, "relay": relay, "code": code}


def test_each_instance_is_listed_once_by_name() -> None:
    first = [status("shop", "RUNNING", "h-1"), status("crm", "STANDBY", "h-1")]
    second = [status("shop", "STANDBY", "h-2"), status("crm", "RUNNING", "h-2")]
    assert [(each["name"], each["relay"]) for each in union([first, second])] == [
        ("crm", "h-2"),
        ("shop", "h-1"),
    ]
    assert union([second, first]) == union([first, second])


@pytest.mark.parametrize("state", ["RUNNING", "PAUSED", "WAITING", "STOPPED"])
@pytest.mark.parametrize("other", ["STANDBY", "STARTING", "ENDED", "unknown"])
def test_a_leader_decides(state: str, other: str) -> None:
    found = [[status("shop", other, "h-1")], [status("shop", state, "h-2")]]
    assert [each["relay"] for each in union(found)] == ["h-2"]


def test_a_standby_that_could_lead_is_shown_before_one_that_could_not() -> None:
    found = [
        [status("shop", "STANDBY", "h-1", "SOURCE_UNREACHABLE")],
        [status("shop", "STANDBY", "h-2")],
    ]
    assert [each["relay"] for each in union(found)] == ["h-2"]


def test_every_state_has_a_place() -> None:
    for state in InstanceState:
        found = [[status("shop", "unknown", "h-1")], [status("shop", state.value, "h-2")]]
        assert [each["relay"] for each in union(found)] == ["h-2"]


def test_a_worker_without_an_answer_is_left_out() -> None:
    assert union([]) == []
    assert union([[], [status("shop", "RUNNING", "h-2")]])[0]["relay"] == "h-2"


@pytest.mark.parametrize("state", ["RUNNING", "PAUSED", "WAITING", "STOPPED"])
def test_of_two_that_take_themselves_for_the_leader_the_newer_one_is_shown(state: str) -> None:
    paused = status("shop", "RUNNING", "h-1") | {"leading_since_ms": 1_700_000_000_000}
    newer = status("shop", state, "h-2") | {"leading_since_ms": 1_700_000_000_001}
    standby = status("shop", "STANDBY", "h-3") | {"leading_since_ms": None}
    for found in ([paused], [newer], [standby]), ([newer], [standby], [paused]):
        assert [each["relay"] for each in union(found)] == ["h-2"]

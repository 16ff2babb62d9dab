"""What an instance says of itself: who could lead it, and how loud its log is."""

import logging

import pytest

from relay.errors import (
    CorruptEvent,
    LeadershipLost,
    MappingRefused,
    PositionNewer,
    RelayError,
    ResourcesExhausted,
    SourceUnreachable,
)
from relay.pipeline.supervision.instance_status import InstanceState, log_level, unready

ANY, PROBED = CorruptEvent("x"), SourceUnreachable("y")


@pytest.mark.parametrize("state", [InstanceState.STANDBY, InstanceState.STARTING])
@pytest.mark.parametrize("own", [PositionNewer(9, 1), ResourcesExhausted("x"), RelayError("a bug")])
def test_a_standby_that_failed_itself_could_not_lead(state: InstanceState, own: RelayError) -> None:
    assert unready(state, own, None) is own
    assert unready(state, own, PROBED) is own


def test_the_probe_tells_of_a_standby_whatever_ended_its_leadership() -> None:
    assert unready(InstanceState.STANDBY, LeadershipLost("x"), PROBED) is PROBED
    assert unready(InstanceState.STANDBY, LeadershipLost("x"), None) is None


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (each, each in ("STOPPED", "ENDED"))
        for each in InstanceState
        if each not in ("STANDBY", "STARTING")
    ],
)
def test_a_leader_is_ready_unless_it_stopped(state: InstanceState, told: bool) -> None:
    assert (unready(state, ANY, PROBED) is ANY) is told


def test_a_stop_is_an_error_of_the_log_and_an_outage_a_warning() -> None:
    levels = [
        logging.getLevelName(log_level(each))
        for each in (
            CorruptEvent("x"),
            MappingRefused("x", data_id="d", pointer=""),
            PROBED,
            LeadershipLost("x"),
            None,
        )
    ]
    assert levels == ["ERROR", "ERROR", "WARNING", "INFO", "INFO"]

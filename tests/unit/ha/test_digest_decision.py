"""What follows from a search by digests, as its whole table."""

from typing import Final

import pytest

from relay.ha import Action, decide_by_digest, landmark_unknown
from relay.model.failover import ServerRole
from relay.model.positions.position import BinlogPosition, SourceIdentity, SourcePosition
from relay.model.records.resume_fingerprint import Landmark, ResumeFingerprint, Sighting, Sought
from relay.model.replication import Replicating, Replication

FOUND: Final = Sought(
    Sighting.FOUND, SourcePosition(BinlogPosition("b.000001", 4), "", SourceIdentity("", 2, 0))
)
SEVERAL: Final = Sought(Sighting.SEVERAL)
OTHER: Final = Sought(Sighting.OTHER)
UNPROVEN: Final = Sought(Sighting.UNPROVEN)
MISSING: Final = Sought(Sighting.MISSING, lacking=3)
ONE: Final = Sought(Sighting.MISSING, lacking=1)
RUNNING, HALTED, ENDED, UNKNOWN = (
    Replicating.RUNNING,
    Replicating.HALTED,
    Replicating.ENDED,
    Replicating.UNKNOWN,
)
_NEVER: Final = (
    "standby is at least 3 transactions behind, as digests show, and it has applied everything "
    "that it received."
)

TABLE: Final = [
    # what the binlog shows, the replication there; what follows, its name, and a piece of the
    # reason
    *[
        ("found", FOUND, state, Action.SWITCH, "", "has the published transactions")
        for state in Replicating
    ],
    *[
        (
            "at several places",
            SEVERAL,
            state,
            Action.STOP,
            "PLACE_AMBIGUOUS",
            "more than one position",
        )
        for state in Replicating
    ],
    *[
        (
            "perhaps there",
            UNPROVEN,
            state,
            Action.STOP,
            "PLACE_AMBIGUOUS",
            "binlog begins too shortly before",
        )
        for state in Replicating
    ],
    *[
        (
            "something else there",
            OTHER,
            state,
            Action.STOP,
            "STANDBY_DIVERGED",
            "other transactions",
        )
        for state in Replicating
    ],
    (
        "not there yet",
        MISSING,
        RUNNING,
        Action.WAIT,
        "",
        "standby is at least 3 transactions behind, as digests show",
    ),
    (
        "one is not there yet",
        ONE,
        RUNNING,
        Action.WAIT,
        "",
        "standby is at least 1 transaction behind, as digests show",
    ),
    (
        "not there, and stopped",
        MISSING,
        HALTED,
        Action.WAIT,
        "",
        "3 transactions behind, as digests show, and its replication is stopped",
    ),
    (
        "not there, and nobody may ask",
        MISSING,
        UNKNOWN,
        Action.WAIT,
        "",
        "the relay's account has no right to read",
    ),
    ("not there, and caught up", MISSING, ENDED, Action.STOP, "STANDBY_LACKS", _NEVER),
]


@pytest.mark.parametrize(
    ("sought", "state", "action", "code", "reason"),
    [row[1:] for row in TABLE],
    ids=[f"{row[0]}, {row[2].value}" for row in TABLE],
)
def test_the_table(
    sought: Sought, state: Replicating, action: Action, code: str, reason: str
) -> None:
    decision = decide_by_digest(sought, Replication(state), ServerRole.STANDBY)
    assert (decision.action, decision.code, reason in decision.reason) == (action, code, True), (
        decision
    )
    assert decision.to is ServerRole.STANDBY


@pytest.mark.parametrize("sought", [FOUND, SEVERAL, OTHER, UNPROVEN, MISSING])
@pytest.mark.parametrize("state", list(Replicating))
def test_an_order_that_may_differ_proves_nothing(sought: Sought, state: Replicating) -> None:
    decision = decide_by_digest(sought, Replication(state, "four workers"), ServerRole.MASTER)
    assert (decision.action, decision.code) == (Action.STOP, "PLACE_AMBIGUOUS")
    assert (
        decision.reason == "Digests cannot prove which transactions the master has: four workers."
    )


def test_what_cannot_be_looked_for_is_said() -> None:
    known = ResumeFingerprint(5, landmark=Landmark(5, "a", ""), chain="a", last="a")
    assert "A part of a transaction is published" in landmark_unknown(known, half=True)
    assert "No digests" in landmark_unknown(None, half=False)
    assert "in a later second" in landmark_unknown(ResumeFingerprint(5), half=False)
    assert landmark_unknown(known, half=False) == ""

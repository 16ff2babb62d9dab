"""What needs a person, rule by rule, and its order."""

from typing import Any

import pytest

from api.models.instance import RelayView
from api.services.watch.facts import Facts, StatePeriod
from api.services.watch.gone_relays import PATIENCE_MS as RESTART_MS
from api.services.watch.gone_relays import RelayRoll
from api.services.watch.needs import LETTERS_MS, PATIENCE_MS, GoneRelay, needs_you
from tests.unit.api.watch.instances import view_of

NOW = 10**12
SHORT, LONG = NOW - PATIENCE_MS + 1, NOW - PATIENCE_MS


def facts_of(state: str, since_ms: int, **more: Any) -> Facts:
    known = {"lag_since_ms", "mapping_since_ms", "spool_since_ms", "letters_ms", "letters"}
    fields = {name: more.pop(name) for name in list(more) if name in known}
    view = view_of(
        state=state, **{"code": "C", "reason": "It broke.", "remedy": "Mend it.", **more}
    )
    period = StatePeriod(since_ms, state, "C", "", "r1", exact=True)
    return Facts(view, period, **fields)


def paused(hours: float, kept_hours: int | None, **more: Any) -> Facts:
    kept = None if kept_hours is None else kept_hours * 3600
    return facts_of("PAUSED", NOW - int(hours * 3_600_000), binlog_kept_seconds=kept, **more)


@pytest.mark.parametrize(
    ("facts", "kinds"),
    [
        (facts_of("STOPPED", NOW), ["stopped"]),
        (facts_of("WAITING", SHORT), []),
        (facts_of("WAITING", LONG), ["waiting"]),
        (facts_of("STANDBY", SHORT), []),
        (facts_of("STANDBY", LONG), ["unled"]),
        (facts_of("NEVER_REPORTED", SHORT), []),
        (facts_of("NEVER_REPORTED", LONG), ["unled"]),
        (facts_of("RUNNING", LONG), []),
        (facts_of("STARTING", LONG), []),
        (facts_of("PAUSED", LONG, lag_since_ms=LONG, lag_seconds=99.0), []),
        (facts_of("ENDED", LONG), []),
        (paused(hours=17, kept_hours=24), []),
        (paused(hours=19, kept_hours=24), ["binlog_short"]),
        (paused(hours=99, kept_hours=24), ["binlog_short"]),
        (paused(hours=9999, kept_hours=0), []),
        (paused(hours=23, kept_hours=None), []),
        (paused(hours=25, kept_hours=None), ["binlog_short"]),
        (paused(hours=1, kept_hours=24, lag_seconds=19 * 3600.0), ["binlog_short"]),
        (facts_of("RUNNING", LONG, lag_since_ms=SHORT, lag_seconds=99.0), []),
        (facts_of("RUNNING", LONG, lag_since_ms=LONG, lag_seconds=99.0), ["lag"]),
        (facts_of("RUNNING", LONG, mapping_since_ms=NOW, mapping_problem="No."), ["mapping"]),
        (facts_of("RUNNING", LONG, spool_since_ms=NOW), ["spool"]),
        (facts_of("RUNNING", LONG, keys_differ="Keys of a.b differ."), ["keys"]),
        (facts_of("RUNNING", LONG, letters_ms=NOW, letters=1), ["dead_letters"]),
        (facts_of("RUNNING", LONG, letters_ms=NOW - LETTERS_MS - 1, letters=1), []),
        (
            facts_of("STOPPED", NOW, letters_ms=NOW, letters=2, mapping_since_ms=NOW),
            ["stopped", "dead_letters", "mapping"],
        ),
    ],
)
def test_each_rule(facts: Facts, kinds: list[str]) -> None:
    found = needs_you([facts], [], NOW, 60.0)
    assert [each.kind for each in found] == kinds
    assert all(each.reason or each.kind == "mapping" for each in found)
    assert all(each.remedy and each.code and each.link for each in found)


def test_the_words_of_the_relay_are_the_text() -> None:
    (need,) = needs_you([facts_of("STOPPED", 7, name="a/b")], [], NOW, 60.0)
    assert (need.code, need.reason, need.remedy) == ("C", "It broke.", "Mend it.")
    assert (need.since_ms, need.exact, need.link) == (7, True, "instances/a%2Fb")


def test_stopped_first_then_waiting_then_lag_then_the_rest_and_the_oldest_first() -> None:
    facts = [
        facts_of("RUNNING", 0, name="letters", letters_ms=NOW - 5, letters=3),
        facts_of("RUNNING", 0, name="slow", lag_since_ms=LONG, lag_seconds=99.0),
        facts_of("WAITING", LONG, name="waits"),
        facts_of("WAITING", LONG - 1, name="waits longer"),
        facts_of("STOPPED", NOW, name="stopped"),
        facts_of("STOPPED", NOW - 1, name="stopped before"),
    ]
    gone = [GoneRelay("r9", "s9", NOW - 9)]
    found = needs_you(facts, gone, NOW, 60.0)
    assert [each.instance or each.server for each in found] == [
        "stopped before",
        "stopped",
        "waits longer",
        "waits",
        "slow",
        "s9",
        "letters",
    ]


def relay_of(name: str, server: str) -> RelayView:
    return RelayView(
        name=name,
        host="h",
        pid=1,
        status_url="",
        instances=[],
        started_ms=1,
        server=server,
        session_timeout_ms=4000,
    )


def test_a_relay_is_gone_when_no_other_lives_on_its_server() -> None:
    roll = RelayRoll()
    roll.note([relay_of("r1", "s1"), relay_of("r2", "s2")], 0)
    later = RESTART_MS
    roll.note([relay_of("r2-restarted", "s2")], later)
    assert roll.gone(frozenset(), later) == [GoneRelay("r1", "s1", 0)]
    assert roll.gone(frozenset({"s1"}), later) == []
    assert roll.gone(frozenset(), later - 1) == []
    roll.note([], 86_400_001)
    assert [each.server for each in roll.gone(frozenset(), 86_400_001)] == ["s2"]

"""The loop of an instance: it stands by, leads, runs sessions, and carries out what their errors
mean.
"""

import gc
import weakref
from dataclasses import replace
from typing import Any

import pytest

from relay.errors import (
    AskedToStop,
    BatchAborted,
    BinlogPurged,
    BrokerUnreachable,
    CorruptEvent,
    Fenced,
    NamesUnknown,
    PositionNewer,
    RelayError,
    ResourcesExhausted,
    RolledBackRows,
    SourceUnreachable,
    StandbyLacks,
)
from relay.ha import Assignment, Why
from relay.model.table import TableId
from relay.pipeline.delivery import flow_control
from relay.state import Flow
from tests.unit.pipeline.supervision.instance_fakes import Bench

ENDS = ["RUNNING", "leads no more", "resigns"]
"""What follows when the instance runs and is stopped."""
ASSIGNMENT = Assignment(wanted="other", why=next(iter(Why)), leader="me")


@pytest.fixture(autouse=True, scope="module")
def _small_heap() -> None:
    """Leave what other tests keep in memory out of the collections that a session's end makes."""
    gc.freeze()


def misfit(place: str) -> NamesUnknown:
    error = NamesUnknown("The columns do not fit.", table=("d", "t"))
    error.place = place
    return error


def test_it_leads_runs_and_shows_that_it_ended_before_it_resigns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Bench(monkeypatch)
    assert bench.run() == ["leads", *ENDS]
    assert [(status.name, status.state, status.relay) for status in bench.notes.statuses] == [
        ("shop", "ENDED", "me")
    ]


@pytest.mark.parametrize(
    "error",
    [
        SourceUnreachable("x"),
        BatchAborted("x"),
        RolledBackRows("x", [("b.1", 4, 1, 2)]),
        misfit("b.1:4"),
    ],
)
def test_what_a_new_session_mends_keeps_the_leadership(
    monkeypatch: pytest.MonkeyPatch, error: RelayError
) -> None:
    bench = Bench(monkeypatch, error)
    assert bench.run() == ["leads", "session", f"WAITING {error.code}, pauses", *ENDS]
    assert bench.instance.error is None
    assert bench.instance.stats.totals.errors == {error.code: 1}


def test_while_kafka_is_away_the_source_is_spooled(monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Bench(monkeypatch, BrokerUnreachable("x")).run()
    assert journal == ["leads", "session", "spools", "WAITING BROKER_UNREACHABLE, pauses", *ENDS]


def test_pauses_grow_and_begin_anew_when_rows_flow(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks_off(_: Any) -> None:
        raise SourceUnreachable("y")

    bench = Bench(
        monkeypatch,
        SourceUnreachable("x"),
        SourceUnreachable("x"),
        SourceUnreachable("x"),
        breaks_off,
    )
    bench.run()
    assert bench.seconds == [0.2, 0.4, 0.8, 0.2]


@pytest.mark.parametrize("error", [PositionNewer(9, 1), ResourcesExhausted("x"), Fenced("x")])
def test_what_another_relay_may_do_better_ends_the_leadership(
    monkeypatch: pytest.MonkeyPatch, error: RelayError
) -> None:
    bench = Bench(monkeypatch, error)
    resigned = ["session", "leads no more", "resigns", f"STANDBY {error.code}, rests"]
    assert bench.run() == ["leads", *resigned, "leads", *ENDS]
    assert [(status.state, status.code) for status in bench.notes.statuses] == [
        ("STANDBY", error.code),
        ("ENDED", ""),
    ]
    assert bench.instance.stats.totals.fences == isinstance(error, Fenced)


def test_a_stop_by_name_frees_the_spool_and_keeps_the_election(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    journal = Bench(monkeypatch, CorruptEvent("x")).run()
    assert journal == [
        "leads",
        "session",
        "leads no more",
        "STOPPED CORRUPT_EVENT, halts",
        "leads",
        *ENDS,
    ]


def test_servers_are_watched_while_a_switch_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Bench(monkeypatch, StandbyLacks("x")).run()
    assert journal == ["leads", "session", "STOPPED STANDBY_LACKS, halts", *ENDS]


def test_an_error_after_the_leadership_is_not_shown_as_this_relays_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def is_deposed(_: Any) -> None:
        bench.election.leading = False
        raise SourceUnreachable("The new leader has the server_id.")

    bench = Bench(monkeypatch, is_deposed)
    resigned = ["RUNNING", "leads no more", "resigns", "STANDBY LEADERSHIP_LOST, rests"]
    assert bench.run() == ["leads", *resigned, "leads", *ENDS]


def test_without_zookeeper_a_leader_stays_one_but_not_after_a_fence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def is_cut_off(_: Any) -> None:
        bench.election.silent = True
        raise SourceUnreachable("x")

    bench = Bench(monkeypatch, is_cut_off, Fenced("x"))
    journal = bench.run()
    assert journal[:3] == ["leads", "RUNNING", "WAITING SOURCE_UNREACHABLE, pauses"]
    assert journal[3:] == [
        "session",
        "leads no more",
        "resigns",
        "STANDBY FENCED, rests",
        "leads",
        *ENDS,
    ]


def test_a_fence_by_the_brokers_timeout_costs_no_leadership(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def is_slow(session: Any) -> None:
        session.open_seconds = 60.0
        raise Fenced("x")

    assert Bench(monkeypatch, is_slow).run() == [
        "leads",
        "RUNNING",
        "WAITING BATCH_ABORTED, pauses",
        *ENDS,
    ]


def test_a_bug_resigns_names_itself_and_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: Any) -> None:
        raise ValueError("unheard of")

    bench = Bench(monkeypatch, fails)
    assert bench.run() == [
        "leads",
        "RUNNING",
        "resigns",
        "STANDBY RELAY_ERROR, rests",
        "leads",
        *ENDS,
    ]
    assert "unheard of" in bench.notes.statuses[0].reason


def test_rolled_back_rows_are_left_out_by_the_next_session(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    ranges = [("b.1", 4, 1, 2)]
    bench = Bench(
        monkeypatch,
        RolledBackRows("x", ranges),
        lambda _: seen.extend(bench.memory.rolled_back.ranges),
    )
    bench.run()
    assert seen == ranges


def test_a_table_is_described_again_once_for_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    described: list[object] = []
    opened = Bench.open

    def noting(bench: Bench, context: Any, memory: Any) -> Any:
        described.append(memory.tables_to_refresh.of_source())
        return opened(bench, context, memory)

    monkeypatch.setattr(Bench, "open", noting)
    bench = Bench(monkeypatch, misfit("b.1:4"), misfit("b.1:4"))
    shown = [each for each in bench.run() if "," in each]
    assert shown == ["WAITING NAMES_UNKNOWN, pauses", "STOPPED SCHEMA_MISMATCH, halts"]
    assert described[:2] == [frozenset(), {TableId("d", "t")}]


def test_what_the_spool_lost_is_told_with_the_purge(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch, BinlogPurged("x"))
    seen: list[str] = []
    monkeypatch.setattr(
        type(bench.instance),
        "_hand_over",
        lambda self: seen.append(self.error.reason) if self.error else None,
    )
    bench.run()
    assert seen == ["x The spool was cut."]


def test_it_hands_over_when_another_relay_should_lead(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch, lambda _: setattr(bench.election, "assignment", ASSIGNMENT))
    assert bench.run() == ["leads", "RUNNING", "leads no more", "resigns", "leads", *ENDS]
    handed_over, _ = bench.notes.statuses
    assert (handed_over.state, handed_over.code) == ("STANDBY", "HANDED_OVER")
    assert "Relay other takes it over" in handed_over.reason


def test_a_paused_instance_runs_no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow_control, "_MOMENT_SECONDS", 0.001)
    bench = Bench(monkeypatch)
    bench.notes.flow = Flow(paused=True, by="ann")
    leads = bench.election.leads

    def lets_go(*, for_certain: bool = False) -> bool:
        if bench.instance.state == "PAUSED":
            bench.journal.append(f"{bench.shown()}: {bench.instance.status('me').held_back}")
            bench.notes.flow = replace(bench.notes.flow, paused=False)
            bench.notes.flow_changed.set()
        return leads(for_certain=for_certain)

    monkeypatch.setattr(bench.election, "leads", lets_go)
    journal = bench.run()
    assert journal[:3] == ["leads", "spool rests", "PAUSED: paused by ann"]
    assert journal[-3:] == ENDS


def test_an_unanswered_server_does_not_keep_it_from_ending(monkeypatch: pytest.MonkeyPatch) -> None:
    def stops(_: Any) -> None:
        bench.instance.ask_to_stop()
        bench.done.set()
        raise AskedToStop("Kafka was not asked any more.")

    bench = Bench(monkeypatch, stops)
    assert bench.run() == ["leads", *ENDS]
    assert bench.notes.statuses[-1].state == "ENDED"


class Client:
    """A producer whose `init_transactions` was not answered."""


def test_no_client_is_left_when_the_election_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A late answer to a client of this relay must not fence the next leader."""
    clients: list[weakref.ref[Client]] = []
    left: list[bool] = []

    def is_deposed(session: Any) -> None:
        client = session.client = Client()
        clients.append(weakref.ref(client))
        bench.election.leading = False
        raise BrokerUnreachable(f"{client} was not answered.")

    bench = Bench(monkeypatch, is_deposed)
    bench.election.before_resigning = lambda: left.extend(client() is None for client in clients)
    bench.run()
    assert left[0] is True

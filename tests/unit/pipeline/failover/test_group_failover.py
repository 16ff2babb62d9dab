"""A switch of one source of a group: what becomes of the record that all of them share, and of the
others.
"""

import threading
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from relay.errors import (
    CorruptEvent,
    RelayError,
    SourceUnreachable,
    StandbyBehind,
    StandbyPurged,
    SwitchingSource,
)
from relay.model.failover import ServerRole
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import OtherSource, PositionRecord, Replay, SplitProgress
from relay.pipeline.failover.group_failover import GroupFailover
from relay.pipeline.ingest.group_record import record_of, with_switched
from relay.pipeline.ingest.group_sources import SourceGroup
from relay.pipeline.ingest.source_choice import SourceChoice
from relay.settings import InstanceSettings
from relay.state import SwitchNote

ONE = SourcePosition(BinlogPosition("b.000007", 400), "0-1-7", SourceIdentity("", 1, 10))
TWO = SourcePosition(BinlogPosition("b.000900", 500), "0-2-9", SourceIdentity("", 2, 20))
THERE = SourcePosition(BinlogPosition("b.000001", 4), "0-2-9", SourceIdentity("", 3, 30))
NAMES = SourcePosition(BinlogPosition("b.000900", 450), "", SourceIdentity("", 2, 20))
HALF = SplitProgress(ONE.binlog, "0-1-8", 3, 1, 1, "")
AGAIN = Replay(ONE.binlog, ONE.binlog, OrderPair(3, 4))
OTHERS = {"second": OtherSource(TWO, NAMES, ("0-2-10",))}
RECORD = PositionRecord(
    ONE, OrderPair(5, 6), 1, 0, {"t": 4}, following="first", skips=("0-1-9",), others=OTHERS
)


class Standby:
    """A source that is chosen like this."""

    managed = True
    refusal = None
    serves = False
    has_news = True

    def __init__(self, name: str, outcome: SourcePosition | RelayError | None = None) -> None:
        self.followed = name
        self.asked: RelayError | None = None
        self.switches: list[SwitchNote] = []
        self._name = name
        self._outcome = outcome

    def choose(self, record: PositionRecord | None) -> SourceChoice:
        if isinstance(self._outcome, RelayError):
            raise self._outcome
        servers: Any = {self._name: self.followed}
        if self._outcome is None or record is None:
            return SourceChoice(servers, record)
        moved = replace(record, source=self._outcome, epoch=record.epoch + 1)
        return SourceChoice(servers, moved, (SwitchNote(1, ServerRole.STANDBY, source=self._name),))

    def forget_news(self) -> None:
        self.has_news = False

    def check(self) -> None:
        if self.asked is not None:
            raise self.asked

    def switched(self, note: SwitchNote) -> None:
        self.switches.append(note)


def failover(
    dies: str = "hold",
    /,
    *,
    given: Any = MappingProxyType({}),
    **outcomes: SourcePosition | RelayError | None,
) -> GroupFailover:
    fields = {"name": "x", "source": {"host": "one", "user": "u"}}
    settings = InstanceSettings.model_validate(
        {
            **fields,
            "group": {"when_source_dies": dies, "sources": [{"name": "second", "host": "other"}]},
        }
    )
    assert settings.group is not None
    sources: Any = {
        name: Standby(name, outcome)
        for name, outcome in {"first": None, "second": None, **outcomes}.items()
    }
    return GroupFailover(SourceGroup(settings, settings.group), {**sources, **given})


def test_the_others_stay_where_they_are_when_one_is_switched() -> None:
    chosen = failover(second=THERE).choose(RECORD)
    assert chosen.record == replace(
        RECORD, epoch=2, others={"second": replace(OTHERS["second"], source=THERE)}
    )
    assert (set(chosen.switched), set(chosen.servers), chosen.passed) == (
        {"second"},
        {"first", "second"},
        {},
    )


def test_two_may_be_switched_at_once() -> None:
    chosen = failover(first=THERE, second=THERE).choose(RECORD)
    assert chosen.record is not None
    assert (chosen.record.epoch, chosen.record.positions) == (3, {"first": THERE, "second": THERE})
    assert [each.source for each in chosen.switches] == ["first", "second"]


def test_nothing_is_chosen_anew_where_all_stay() -> None:
    assert failover().choose(RECORD).record == RECORD
    assert failover().choose(None) == SourceChoice({"first": "first", "second": "second"}, None)  # type: ignore[dict-item] # as Standby calls them


def test_the_position_of_a_single_source_is_the_first_ones() -> None:
    single = replace(RECORD, following="", others={})
    assert failover(first=THERE).choose(single).record == replace(
        single, source=THERE, epoch=2, following="first"
    )


@pytest.mark.parametrize(
    "error", [StandbyBehind("7 behind."), StandbyPurged("gone."), SourceUnreachable("away.")]
)
def test_one_that_cannot_be_switched_holds_the_others_or_is_passed_over(error: RelayError) -> None:
    with pytest.raises(type(error), match=r"Source second: "):
        failover("hold", second=type(error)(error.reason)).choose(RECORD)
    chosen = failover("pass", first=THERE, second=error).choose(RECORD)
    assert (set(chosen.switched), chosen.passed) == ({"first"}, {"second": error})
    assert chosen.record == replace(RECORD, source=THERE, epoch=2)


def test_nobody_is_passed_over_who_serves_while_the_standby_gets_the_rest() -> None:
    source = Standby("second", StandbyBehind("1 behind."))
    source.serves = True
    with pytest.raises(StandbyBehind):
        failover("pass", given={"second": source}).choose(RECORD)


def test_no_source_is_passed_over_within_a_transaction_or_with_a_damaged_binlog() -> None:
    with pytest.raises(StandbyBehind):
        failover("pass", first=StandbyBehind("7 behind.")).choose(replace(RECORD, split=HALF))
    with pytest.raises(CorruptEvent):
        failover("pass", first=CorruptEvent("damaged.")).choose(RECORD)


def test_what_was_known_at_a_choice_that_failed_is_no_news() -> None:
    first, second = Standby("first", StandbyPurged("gone.")), Standby("second")
    known = failover(given={"first": first, "second": second})
    with pytest.raises(StandbyPurged):
        known.choose(RECORD)
    never = threading.Event()
    assert not known.wait_for_news(never, 0.01)
    second.has_news = True
    assert known.wait_for_news(never, 20)


def test_half_a_transaction_and_a_stretch_read_again_are_of_the_source_that_is_followed() -> None:
    record = replace(RECORD, split=HALF, replay=AGAIN)
    first, second = record_of(record, "first"), record_of(record, "second")
    assert first == replace(record, following="", others={})
    alone = replace(record, source=TWO, names=NAMES, skips=("0-2-10",), following="", others={})
    assert second == replace(alone, split=None, replay=None)
    assert (record_of(record, "third"), record_of(None, "first")) == (None, None)
    assert first is not None
    assert second is not None
    moved = with_switched(record, "second", replace(second, source=THERE, epoch=2))
    assert (moved.split, moved.replay, moved.epoch, moved.positions["second"]) == (
        HALF,
        AGAIN,
        2,
        THERE,
    )
    moved = with_switched(record, "first", replace(first, source=THERE, epoch=2, replay=None))
    assert (moved.split, moved.replay, moved.epoch, moved.source, moved.others) == (
        HALF,
        None,
        2,
        THERE,
        record.others,
    )


def test_who_asks_for_another_server_is_named() -> None:
    source = Standby("second")
    known = failover(given={"second": source})
    known.check()
    source.asked = SwitchingSource("The master failed.")
    with pytest.raises(SwitchingSource) as asked:
        known.check()
    assert asked.value.reason == "Source second: The master failed."
    note = SwitchNote(1, "standby", source="second")
    known.switched(note)
    assert source.switches == [note]

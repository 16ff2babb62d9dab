"""Which sources of a group are opened, and whether one that does not answer is waited for or passed
over.
"""

from dataclasses import replace
from typing import Any

import pytest

from relay.errors import (
    BinlogPurged,
    HistoryChanged,
    RelayError,
    SourceSettingsRefused,
    SourceUnreachable,
    StandbyBehind,
)
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import OtherSource, PositionRecord, Replay, SplitProgress
from relay.pipeline.ingest.group_rules import refuse_foreign_record
from relay.pipeline.ingest.group_sources import SourceGroup
from relay.pipeline.ingest.source_choice import SourceChoice
from relay.settings import InstanceSettings
from relay.source import ExcludedRange
from relay.state import SwitchNote

START = SourcePosition(BinlogPosition("b.000001", 4), "", SourceIdentity("", 1, 0))
OTHER = SourcePosition(BinlogPosition("b.000900", 4), "", SourceIdentity("", 2, 0))
RECORD = PositionRecord(
    START,
    OrderPair(0, 0),
    epoch=0,
    change_time_ms=0,
    following="first",
    others={"second": OtherSource(OTHER)},
)
STANDBY = {"host": "one", "user": "u", "standby": {"host": "s"}}
HALF = SplitProgress(START.binlog, "", 1, 1, 1, "")


class Opened:
    """A source that begins here."""

    def __init__(self, start: SourcePosition) -> None:
        self.stream = self
        self.start = start

    def close(self) -> None: ...


def instance(dies: str = "hold", **group: Any) -> InstanceSettings:
    sources = [{"name": "second", "host": "other"}]
    fields = {
        "name": "x",
        "source": {"host": "one", "user": "u"},
        "group": {"when_source_dies": dies, "sources": sources, **group},
    }
    return InstanceSettings.model_validate(fields)


def group(dies: str = "hold") -> SourceGroup:
    settings = instance(dies)
    assert settings.group is not None
    return SourceGroup(settings, settings.group)


def opened(
    known: SourceGroup,
    record: PositionRecord | None,
    *,
    away: str = "",
    error: type[Exception] = SourceUnreachable,
    second: SourcePosition = OTHER,
    passed: dict[str, RelayError] | None = None,
    switches: tuple[SwitchNote, ...] = (),
) -> set[str]:
    """The names of the sources that are open, while the one at this host is away."""

    def at(_name: str, settings: Any, _at: OtherSource | None, _excluded: object) -> Any:
        if settings.host == away:
            raise error("away")
        return Opened(START if settings.host == "one" else second)

    with known.open(SourceChoice(known.members, record, switches, passed or {}), at) as found:
        return set(found)


def test_all_are_opened() -> None:
    assert opened(group(), None) == {"first", "second"}


@pytest.mark.parametrize("host", ["one", "other"])
def test_one_that_does_not_answer_holds_the_others(host: str) -> None:
    with pytest.raises(SourceUnreachable):
        opened(group(), RECORD, away=host)


def test_one_that_does_not_answer_is_passed_over_where_that_is_asked_for() -> None:
    known = group("pass")
    assert opened(known, RECORD, away="other") == {"first"}
    assert known.words == "Source second is not read at present: SOURCE_UNREACHABLE."
    assert opened(known, RECORD) == {"first", "second"}
    assert known.words == ""


@pytest.mark.parametrize(
    ("record", "away", "error"),
    [
        (None, "other", SourceUnreachable),
        (
            PositionRecord(START, OrderPair(0, 0), epoch=0, change_time_ms=0),
            "other",
            SourceUnreachable,
        ),
        (
            PositionRecord(
                START,
                OrderPair(0, 0),
                0,
                0,
                split=HALF,
                following="first",
                others={"second": OtherSource(OTHER)},
            ),
            "one",
            SourceUnreachable,
        ),
        (RECORD, "other", BinlogPurged),
    ],
    ids=[
        "nobody has a position",
        "it never had one",
        "half of its transaction is published",
        "it answers and says no",
    ],
)
def test_nobody_is_passed_over_whose_rows_would_be_lost(
    record: PositionRecord | None, away: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        opened(group("pass"), record, away=away, error=error)


def test_one_whose_standby_lags_is_passed_over_and_says_so() -> None:
    known = group("pass")
    assert opened(known, RECORD, passed={"second": StandbyBehind("Source second: 7 behind.")}) == {
        "first"
    }
    assert known.words == "Source second is not read at present: STANDBY_BEHIND."


def test_one_that_is_gone_in_the_moment_of_its_switch_is_looked_at_anew() -> None:
    with pytest.raises(SourceUnreachable):
        opened(
            group("pass"),
            RECORD,
            away="other",
            switches=(SwitchNote(1, "standby", source="second"),),
        )


def test_rows_rolled_back_on_one_server_leave_out_none_of_another() -> None:
    known, given = group(), list[tuple[str, int]]()

    def at(name: str, settings: Any, _at: OtherSource | None, excluded: list[ExcludedRange]) -> Any:
        given.append((name, len(excluded)))
        excluded.append(("b.000001", 4, 0, 8))
        return Opened(START if settings.host == "one" else OTHER)

    for switches in (), (SwitchNote(1, "standby", source="second"),):
        with known.open(SourceChoice(known.members, RECORD, switches), at):
            pass
    assert given == [("first", 0), ("second", 0), ("first", 1), ("second", 0)]


def test_a_source_keeps_its_name() -> None:
    settings = instance(sources=[{"name": "other_name", "host": "other"}])
    assert settings.group is not None
    renamed = SourceGroup(settings, settings.group)
    with pytest.raises(HistoryChanged, match="stored under the name second") as refused:
        opened(renamed, RECORD)
    assert "Give the source its former name second again" in str(refused.value)
    assert opened(renamed, RECORD, second=replace(OTHER, identity=SourceIdentity("", 3, 0))) == {
        "first",
        "other_name",
    }


def test_one_server_is_no_two_sources() -> None:
    with pytest.raises(SourceSettingsRefused, match="first and second are the same server"):
        opened(group(), None, second=START)


def test_a_source_that_is_new_begins_where_it_was_opened_and_one_that_left_is_forgotten() -> None:
    settings = instance(sources=[{"name": "third", "host": "third"}])
    assert settings.group is not None
    known, first = (
        SourceGroup(settings, settings.group),
        lambda start: PositionRecord(start, OrderPair(0, 0), 0, 0),
    )
    sources: Any = {"first": Opened(START), "third": Opened(OTHER)}
    begun = known.start_record(None, sources, first)
    assert (begun.following, begun.positions) == ("first", {"first": START, "third": OTHER})
    later = replace(OTHER, binlog=BinlogPosition("b.000901", 4))
    single = known.start_record(PositionRecord(later, OrderPair(5, 6), 1, 0), sources, first)
    assert (single.following, single.positions, single.order) == (
        "first",
        {"first": later, "third": OTHER},
        OrderPair(5, 6),
    )
    assert known.start_record(RECORD, sources, first).positions == {"first": START, "third": OTHER}


def test_a_position_of_a_group_means_nothing_to_a_single_source() -> None:
    single = InstanceSettings.model_validate({"name": "x", "source": {"host": "one", "user": "u"}})
    with pytest.raises(HistoryChanged):
        refuse_foreign_record(single, RECORD)
    refuse_foreign_record(instance(), RECORD)
    refuse_foreign_record(single, None)


def test_what_comes_again_of_a_single_source_comes_before_it_is_a_group() -> None:
    replay = Replay(START.binlog, BinlogPosition("b.000009", 4), OrderPair(7, 8))
    with pytest.raises(HistoryChanged, match="again, in the order of the single source"):
        refuse_foreign_record(
            instance(), PositionRecord(START, OrderPair(0, 0), 0, 0, replay=replay)
        )


def test_what_is_to_be_skipped_stays_with_its_source() -> None:
    skipping = RECORD.with_source("second", OtherSource(OTHER, skips=("0-9-7",)))
    sources: Any = {"first": Opened(START), "second": Opened(OTHER)}
    for known in (group(), group("pass")):
        assert known.start_record(skipping, sources, lambda _: RECORD).standing == skipping.standing


def test_what_is_not_set_is_as_at_the_first_source() -> None:
    members = group().members
    assert [(name, each.host, each.user) for name, each in members.items()] == [
        ("first", "one", "u"),
        ("second", "other", "u"),
    ]


def test_each_source_may_have_a_standby_of_its_own() -> None:
    fields = instance(
        sources=[
            {"name": "second", "host": "other", "port": 7, "user": "v", "standby": {"host": "s2"}}
        ]
    ).model_dump()
    fields["source"]["standby"] = {"host": "s1", "port": 8}
    standbys = {
        name: each.at_standby()
        for name, each in InstanceSettings.model_validate(fields).each_source().items()
    }
    found = {
        name: each and (each.host, each.port, each.user, each.standby)
        for name, each in standbys.items()
    }
    assert found == {"first": ("s1", 8, "u", None), "second": ("s2", 3306, "v", None)}
    assert [each.at_standby() for each in instance().each_source().values()] == [None, None]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"group": {"sources": []}}, "at least 1 item"),
        (
            {"group": {"sources": [{"name": "first", "host": "h"}]}},
            "two sources of a group have the same name: first, first; rename one of them",
        ),
        ({"group": {"sources": [{"name": "b", "host": "one"}]}}, "two sources of the group, or"),
        ({"group": {"sources": [{"name": "b.c", "host": "h"}]}}, "should match pattern"),
        (
            {"group": {"sources": [{"name": "b", "host": "h", "standby": {"host": "one"}}]}},
            "a source and a standby, have the same host and port",
        ),
        (
            {"group": {"sources": [{"name": "b", "host": "h", "standby": {"host": "h"}}]}},
            "a source and a standby, have the same host and port",
        ),
        (
            {"group": {"sources": [{"name": "b", "host": "h", "standby": {"place": "s"}}]}},
            "Extra inputs are not permitted",
        ),
        (
            {"group": {"sources": [{"name": "b", "host": "h"}], "merge_by": "name"}},
            "should match pattern",
        ),
        (
            {"source": {"host": "one", "user": "u", "standby": {"host": "other"}}},
            "a source and a standby, have the same host and port",
        ),
        (
            {"source": {**STANDBY, "gtid": False}},
            "GTIDs prove the standby of first, and gtid of that source is false",
        ),
        (
            {"source": STANDBY, "failover": {"switch_without_gtid": "digest"}},
            "= 'digest' is for a single source; in a group GTIDs prove",
        ),
        (
            {"source": STANDBY, "failover": {"switch_without_gtid": "fallback"}},
            "= 'fallback' is for a single source",
        ),
        ({"failover": {"virtual_address": True}}, "failover.virtual_address applies to one source"),
        ({"lookups": [{"name": "l", "query": "select 1"}]}, "lookups applies to one source"),
        (
            {"spool": "mixed", "spooling": {"directory": "spool"}},
            "spool = 'mixed' applies to one source",
        ),
        ({"start": {"journal_name": "b.000001"}}, "start.journal_name applies to one source"),
        (
            {"start": {"journal_name": "b.000001", "timestamp": 1}},
            "start.journal_name applies to one source",
        ),
    ],
)
def test_what_a_group_cannot_have_is_refused(settings: dict[str, Any], why: str) -> None:
    fields = instance().model_dump(exclude_unset=True)
    with pytest.raises(ValueError, match=why):
        InstanceSettings.model_validate({**fields, **settings})

"""What a wish for another position of one source makes of a group's record."""

from dataclasses import replace

import pytest

from relay.errors import MoveRefused, SourceNotNamed
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import OtherSource, PositionRecord, SplitProgress
from relay.operations.instances.chosen_source import chosen_source
from relay.operations.positions.position import Shown
from relay.operations.positions.preview import Preview
from relay.operations.positions.repositioning import RepositionKind, plan_reposition, skip, unskip
from relay.operations.positions.rows_between import RowsBetween
from relay.operations.positions.sentences import foretold, moved, shown
from relay.settings import InstanceSettings

FIRST, SECOND = SourceIdentity("", 1, 1), SourceIdentity("", 2, 1)


def place(file: int, offset: int, server: SourceIdentity) -> SourcePosition:
    return SourcePosition(
        BinlogPosition(f"b.{file:06}", offset),
        f"0-{server.server_id}-{file * 1000 + offset}",
        server,
    )


STANDING = OtherSource(
    place(900, 500, SECOND), names=place(900, 500, SECOND), skips=("0-2-999999",)
)
NOW = PositionRecord(
    place(7, 500, FIRST),
    OrderPair(90, 9000),
    3,
    80,
    {"t": 4},
    following="first",
    others={"second": STANDING},
)
SINGLE = replace(NOW, following="", others={})
HALF = replace(NOW, split=SplitProgress(NOW.source.binlog, "0-1-7501", 7, 95, 1, ""))
GROUP = {
    "name": "shop",
    "source": {"host": "one", "user": "u"},
    "group": {"sources": [{"name": "second", "host": "other"}]},
}


@pytest.mark.parametrize(
    ("source", "to"), [("first", place(8, 4, FIRST)), ("second", place(901, 4, SECOND))]
)
def test_one_source_goes_forward_and_the_others_stay(source: str, to: SourcePosition) -> None:
    move = plan_reposition(NOW, to, (NOW,), as_new=False, latest_ms=0, source=source)
    assert (move.kind, move.source, move.origin) == (
        RepositionKind.FORWARD,
        source,
        NOW.positions[source],
    )
    assert move.after.standing == {**NOW.standing, source: replace(NOW.standing[source], source=to)}
    assert (move.after.epoch, move.after.order, move.after.following) == (4, NOW.order, "first")


@pytest.mark.parametrize(
    ("source", "to"), [("first", place(6, 4, FIRST)), ("second", place(899, 4, SECOND))]
)
def test_one_source_comes_again_as_new_alone(source: str, to: SourcePosition) -> None:
    with pytest.raises(MoveRefused, match=f"of {source} cannot be published") as refused:
        plan_reposition(
            NOW, to, (replace(NOW, source=to),), as_new=False, latest_ms=0, source=source
        )
    assert "--as-new" in refused.value.way_out
    move = plan_reposition(NOW, to, (), as_new=True, latest_ms=0, source=source)
    assert (move.kind, move.after.epoch, move.after.order) == (RepositionKind.AS_NEW, 4, NOW.order)
    assert move.after.positions == {**NOW.positions, source: to}


def test_what_another_source_has_half_published_is_published_whole() -> None:
    assert (
        plan_reposition(
            HALF, place(901, 4, SECOND), (), as_new=False, latest_ms=0, source="second"
        ).after.split
        == HALF.split
    )
    gone = plan_reposition(
        HALF, place(8, 4, FIRST), (), as_new=False, latest_ms=0, source="first"
    ).after
    assert (gone.split, gone.order) == (None, OrderPair(95, 9000))


def test_a_source_without_a_position_gets_one_as_new() -> None:
    to = place(1, 4, SourceIdentity("", 3, 1))
    with pytest.raises(MoveRefused, match="third has no position yet"):
        plan_reposition(NOW, to, (), as_new=False, latest_ms=0, source="third")
    move = plan_reposition(NOW, to, (), as_new=True, latest_ms=0, source="third")
    assert (move.origin, move.after.standing) == (None, {**NOW.standing, "third": OtherSource(to)})
    with pytest.raises(MoveRefused, match="third has no position yet"):
        skip(NOW, "0-3-1", "third")


def test_without_a_record_the_first_place_opens_one() -> None:
    first = plan_reposition(
        None, place(7, 4, FIRST), (), as_new=True, latest_ms=5000, source="first"
    ).after
    both = plan_reposition(
        first, place(900, 4, SECOND), (), as_new=True, latest_ms=6000, source="second"
    ).after
    assert both.positions == {"first": place(7, 4, FIRST), "second": place(900, 4, SECOND)}
    assert (both.order, both.epoch) == (OrderPair(5000, 0), 2)


@pytest.mark.parametrize(
    ("record", "to", "source", "reason"),
    [
        (NOW, place(900, 500, SECOND), "second", "already"),
        (NOW, place(901, 500, FIRST), "second", "another server"),
        (NOW, place(8, 4, FIRST), "", "still that of a group"),
        (SINGLE, place(8, 4, FIRST), "first", "still that of a single source"),
        (None, place(8, 4, FIRST), "first", "no position record"),
    ],
)
def test_what_cannot_be_done_as_asked_is_refused(
    record: PositionRecord | None, to: SourcePosition, source: str, reason: str
) -> None:
    with pytest.raises(MoveRefused, match=reason):
        plan_reposition(record, to, (), as_new=False, latest_ms=0, source=source)


def test_a_skip_is_of_one_source() -> None:
    skipping = skip(NOW, "0-1-900500", "first")  # the second one's has this number behind it
    assert skipping == replace(NOW, skips=("0-1-900500",))
    again = skip(skipping, "0-2-999998", "second")
    assert again.standing["second"].skips == ("0-2-999999", "0-2-999998")
    assert unskip(unskip(again, "0-2-999998", "second"), "0-1-900500", "first") == NOW
    for start, gtid, source, reason in (
        (NOW, "0-2-900400", "second", "before the position"),
        (NOW, "0-2-999999", "second", "already"),
        (SINGLE, "0-1-999999", "first", "still that of a single source"),
    ):
        with pytest.raises(MoveRefused, match=reason):
            skip(start, gtid, source)
    with pytest.raises(MoveRefused, match="not on the skip list"):
        unskip(NOW, "0-2-999999", "first")


def test_the_source_of_a_group_is_named() -> None:
    group = InstanceSettings.model_validate(GROUP)
    assert [chosen_source(group, name).settings.host for name in ("first", "second")] == [
        "one",
        "other",
    ]
    for wanted in (None, "", "shop", "third"):
        with pytest.raises(SourceNotNamed, match="first, second"):
            chosen_source(group, wanted)
    single = InstanceSettings.model_validate({**GROUP, "group": None})
    for own in (None, "shop"):
        assert chosen_source(single, own) == ("", single.source)
    with pytest.raises(SourceNotNamed, match="single source"):
        chosen_source(single, "first")


def test_people_are_told_which_source_it_is() -> None:
    move = plan_reposition(
        NOW, place(901, 4, SECOND), (), as_new=False, latest_ms=0, source="second"
    )
    told = foretold("shop", Preview(move, "relay-1", 700, "0-2-901004", 2))
    assert told.startswith(
        "Source second, from b.000900:500 to b.000901:4: 700 bytes of binlog in 2 files"
    )
    assert "LEFT OUT" in told
    rows = RowsBetween({"shop.order": 1_200, "shop.client": 1}, is_whole=True)
    told = foretold("shop", Preview(move, "relay-1", 700, "0-2-901004", 2, rows))
    assert "1,201 rows of 2 logical tables: shop.order (1,200), shop.client (1)." in told
    assert "`roma reconcile --repair`" in told
    assert "The other sources continue at their positions." in told
    assert moved("shop", move) == "Source second of shop continues forward at b.000901:4, epoch 4."
    lines = shown(Shown(NOW, None, (NOW,))).splitlines()
    assert [line for line in lines if line.startswith(("source", "to skip"))] == [
        "source     first",
        "source     second",
        "to skip    0-2-999999",
    ]
    fresh = plan_reposition(None, place(7, 4, FIRST), (), as_new=True, latest_ms=0, source="first")
    told = foretold("shop", Preview(fresh, None, None, ""))
    assert "source first has no position" in told
    assert "give each its own before a relay starts" in told

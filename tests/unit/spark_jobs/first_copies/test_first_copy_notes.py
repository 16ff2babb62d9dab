"""What a restart of a first copy goes on from."""

import random
from dataclasses import replace

import pytest

from relay.model.source_rows.key_range import Boundary
from relay.model.table import TableId
from spark_jobs.first_copy.notes import (
    ShardNote,
    TableNote,
    begin_line,
    end_line,
    note_of,
    round_line,
)
from spark_jobs.first_copy.range_scheduler import Ahead, ShardRange, copied_ranges, next_round
from spark_jobs.first_copy.rate_limit import Pace, round_rows
from spark_jobs.first_copy.shape import shape_of
from spark_jobs.origin import KeyRange, Shard, SourceColumn
from spark_jobs.origin.shards import LogicalTable

ID = SourceColumn("id", "int", "int")
N = SourceColumn("n", "int", "int")
ONE, TWO = (
    Shard(instance, TableId("db", "t"), "shop.t", (ID, N), ("id",)) for instance in ("one", "two")
)
PAIRS = {"one": "0000000000001.0000000000000000001", "two": "0000000000002.0000000000000000002"}


def folded(*lines: str) -> TableNote:
    note = note_of(lines)
    assert note is not None
    return note


def test_the_lines_of_a_run_in_any_order() -> None:
    lines = [begin_line(None, "r1", PAIRS)]
    lines.append(round_line(folded(*lines), [("one/db.t", ("5",)), ("one/db.t", ("9",))], 10))
    lines.append(round_line(folded(*lines), [("one/db.t", None), ("two/db.t", ("3",))], 7))
    note = folded(*random.Random(1).sample(lines, len(lines)))
    assert (note.run, note.pairs, note.rows, note.ended) == ("r1", PAIRS, 17, False)
    assert note.shards == {
        "one/db.t": ShardNote((("5",), ("9",)), True),
        "two/db.t": ShardNote((("3",),), False),
    }
    lines.append(end_line(note, 2))
    assert folded(*lines).ended


def test_a_new_run_forgets_the_one_before() -> None:
    first = [begin_line(None, "r1", PAIRS)]
    first.append(round_line(folded(*first), [("one/db.t", None)], 10))
    second = folded(*first, begin_line(folded(*first), "r2", {"one": "x"}))
    assert (second.run, second.shards, second.rows, second.sequence) == ("r2", {}, 0, 3)
    assert note_of([]) is None


def test_the_rules_of_a_run_are_noted() -> None:
    lines = [begin_line(None, "r1", PAIRS, {"one": "digest"})]
    lines.append(round_line(folded(*lines), [("one/db.t", None)], 10))
    assert folded(*lines).rules == {"one": "digest"}
    assert folded(*lines, begin_line(folded(*lines), "r2", PAIRS)).rules == {}


def test_the_shape_of_a_run_is_noted() -> None:
    lines = [begin_line(None, "r1", PAIRS, {}, "a shape")]
    lines.append(round_line(folded(*lines), [("one/db.t", None)], 10))
    assert folded(*lines).shape == "a shape"


@pytest.mark.parametrize(
    "other",
    [
        replace(ONE, key_names=("n",)),
        replace(ONE, shard_in_key=True),
        replace(ONE, columns=(replace(ID, type_text="bigint"), N)),
        replace(ONE, columns=(replace(ID, collation="latin1_bin"), N)),
        TWO,
    ],
    ids=[
        "another key",
        "the shard in the key",
        "another type",
        "another collation",
        "another shard",
    ],
)
def test_what_a_run_cannot_go_on_behind_has_another_shape(other: Shard) -> None:
    shape = shape_of(LogicalTable("shop.t", (ONE,)), "delta /copies")
    assert shape == shape_of(
        LogicalTable("shop.t", (replace(ONE, columns=(ID, replace(N, type_text="text"))),)),
        "delta /copies",
    )
    assert shape != shape_of(LogicalTable("shop.t", (ONE,)), "delta /others")
    assert shape != shape_of(LogicalTable("shop.t", (other,)), "delta /copies")


def ahead(rows: dict[str, int], step: int) -> Ahead:
    def find(shard: Shard, after: Boundary | None) -> Boundary | None:
        until = (0 if after is None else int(after[0])) + step
        return (str(until),) if until <= rows[shard.instance] else None

    return find


def test_rounds_take_ranges_from_all_shards_until_none_is_left() -> None:
    note, taken = folded(begin_line(None, "r", PAIRS)), list[ShardRange]()
    lines = [begin_line(None, "r", PAIRS)]
    while parts := next_round((ONE, TWO), note, 3, ahead({"one": 25, "two": 10}, 10)):
        assert len(parts) <= 3
        taken.extend(parts)
        lines.append(round_line(note, [(part.shard.name, part.range.until) for part in parts], 1))
        note = folded(*lines)
    of_one = [KeyRange(None, ("10",)), KeyRange(("10",), ("20",)), KeyRange(("20",), None)]
    of_two = [KeyRange(None, ("10",)), KeyRange(("10",), None)]
    assert taken == [
        *(ShardRange(ONE, each) for each in of_one),
        *(ShardRange(TWO, each) for each in of_two),
    ]
    assert list(copied_ranges((ONE, TWO), note)) == taken


def test_a_pause_holds_the_mean_down() -> None:
    now = [0.0]
    pace = Pace(100, lambda: now[0])
    now[0] = 1.0
    assert pace.pause_s(300) == 2.0
    now[0] = 10.0
    assert pace.pause_s(100) == 0.0
    assert Pace(None).pause_s(10**9) == 0.0


def test_a_slow_copy_takes_small_rounds() -> None:
    assert [round_rows(1000, 4, rate) for rate in (None, 10_000, 100, 1)] == [1000, 1000, 250, 2]

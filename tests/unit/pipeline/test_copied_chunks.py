"""The pure parts of copies: windows, the SELECT of a chunk, and the values of its answers."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.errors import SnapshotRefused, SourceUnreachable
from relay.model.change import Operation, RowChange, RowsEvent
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition
from relay.model.records.snapshot_progress import SnapshotProgress
from relay.model.table import Column, ColumnType, TableId, TableMap
from relay.model.value import ABSENT
from relay.pipeline.copying import copy_run
from relay.pipeline.copying.chunk_select import (
    MOST_ROWS,
    MOST_TIMEOUTS,
    after_void,
    check_timeouts,
    chunk_condition,
    chunk_select,
    end_of,
    first_limit,
    is_last,
    last_key,
    next_limit,
    read_chunk,
)
from relay.pipeline.copying.copy_waits import CopyWait, decide_by_lag, decide_by_source_load
from relay.pipeline.copying.known_tables import KnownTable
from relay.pipeline.copying.named_keys import (
    check_kept_key,
    check_kept_keys,
    check_shown_keys,
    keys_condition,
)
from relay.pipeline.copying.noted_changes import note_changes
from relay.pipeline.copying.window import MOST_KEYS, Verdict, Window
from relay.route import Dropped, TableFilter
from relay.schema import CopiedTable, DescribedTable, copied_table
from relay.schema.copied.value_readers import value_reader
from relay.schema.history.described import DescribedColumn
from relay.settings import CopyingSettings, FilterSettings
from relay.source import Low, ReadChunk
from relay.state import SnapshotRequest
from tests.support.rows.table_plans import table_definition, table_plan

TABLE = TableId("shop", "orders")
_UUID = "123e4567e89b12d3a45642665544"  # its trailing zero bytes are not logged
PLACE = BinlogPosition("mysql-bin.000001", 4)
LIMITS = CopyingSettings()


COLUMNS = (
    Column("id", ColumnType.LONG, nullable=False),
    Column("v", ColumnType.VARCHAR, nullable=True),
)


def window() -> Window:
    return Window(TABLE, (0,), COLUMNS)


def test_a_row_is_dropped_for_either_key_of_a_change_and_published_for_none() -> None:
    seen = window()
    seen.note([RowChange((1, "a"), (2, "a"))], has_message=True)
    assert [seen.verdict((key, "x")) for key in (1, 2, 3)] == [
        Verdict.DROPPED,
        Verdict.DROPPED,
        Verdict.PUBLISHED,
    ]


def test_the_last_change_of_a_key_decides_whether_its_row_is_known() -> None:
    seen = window()
    seen.note([RowChange(None, (1,))], has_message=True)
    seen.note([RowChange((1,), (1,))], has_message=False)
    assert seen.verdict((1,)) is Verdict.UNKNOWN
    seen.note([RowChange((1,), None)], has_message=True)
    assert seen.verdict((1,)) is Verdict.DROPPED


def test_a_partial_image_takes_its_key_from_the_image_before_or_voids_the_window() -> None:
    seen = window()
    seen.note([RowChange((1, 5), (ABSENT, 6))], has_message=True)
    assert (seen.void, seen.verdict((1, 6))) == ("", Verdict.DROPPED)
    seen.note([RowChange((ABSENT, 5), None)], has_message=True)
    assert "lacks" in seen.void


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (RowChange((1, ABSENT), (ABSENT, 6)), Verdict.DROPPED),
        (RowChange((1, ABSENT), (1, ABSENT)), Verdict.UNKNOWN),
        (RowChange(None, (1, ABSENT)), Verdict.UNKNOWN),
        (RowChange((1, ABSENT), None), Verdict.DROPPED),
    ],
)
def test_a_row_is_dropped_only_for_a_message_with_all_columns(
    change: RowChange, verdict: Verdict
) -> None:
    seen, accepted = window(), TableFilter(FilterSettings())
    table = TableMap(
        TABLE,
        tuple(Column(name, ColumnType.LONG, nullable=True) for name in ("id", "n")),
        (0,),
    )
    plan = table_plan(table_definition(table), TABLE, "t", 4)
    event = RowsEvent(Operation.UPDATE, table, (change,), 0, PLACE, 9)
    note_changes(seen, [event], plan, accepted)
    assert (seen.void, seen.verdict((1, 5))) == ("", verdict)


def test_too_many_keys_void_the_window() -> None:
    seen = window()
    seen.note((RowChange(None, (key,)) for key in range(MOST_KEYS + 1)), has_message=True)
    assert "keys changed" in seen.void


@pytest.mark.parametrize(
    ("columns", "key"),
    [
        (COLUMNS[:1], 1),
        ((replace(COLUMNS[0], name="uid"), COLUMNS[1]), 1),
        ((replace(COLUMNS[0], name="", type=ColumnType.JSON), COLUMNS[1]), {"a": 1}),
    ],
)
def test_rows_of_another_layout_void_the_window_and_are_not_looked_at(
    columns: tuple[Column, ...], key: Any
) -> None:
    seen = Window(TABLE, (len(COLUMNS) - 1,), COLUMNS) if len(columns) == 1 else window()
    change = RowChange(None, (key, "x")[: len(columns)])
    event = RowsEvent(Operation.INSERT, TableMap(TABLE, columns), (change,), 0, PLACE, 9)
    note_changes(seen, [event], Dropped("", ""), TableFilter(FilterSettings()))
    assert "other columns" in seen.void


def test_rows_without_names_of_columns_are_noted() -> None:
    seen = window()
    bare = TableMap(TABLE, tuple(replace(each, name="") for each in COLUMNS))
    event = RowsEvent(Operation.INSERT, bare, (RowChange(None, (1, b"x")),), 0, PLACE, 9)
    note_changes(seen, [event], Dropped("", ""), TableFilter(FilterSettings()))
    assert (seen.void, seen.verdict((1, b"x"))) == ("", Verdict.UNKNOWN)


def described(*columns: DescribedColumn, key: tuple[str, ...]) -> DescribedTable:
    return DescribedTable(columns, key, "utf8mb4", ())


def test_the_select_continues_behind_the_last_key_and_keeps_the_condition_apart() -> None:
    table = copied_table(
        TABLE,
        described(
            DescribedColumn("id", "bigint", nullable=False),
            DescribedColumn("f`", "float"),
            key=("id",),
        ),
        mariadb=False,
    )
    first = chunk_select(table, (), "a OR b", 10)
    assert first == (
        "SELECT `id`, `f``` * 1E0, CAST(`id` AS CHAR) FROM `shop`.`orders` WHERE (TRUE) AND "
        "(a OR b) ORDER BY `id` LIMIT 10"
    )
    chunk = ReadChunk([(b"4", None, b"4"), (b"7", b"0.5", b"7")], PLACE)
    assert last_key(table, chunk) == ("7",)
    assert "WHERE `id` > 7 ORDER" in chunk_select(table, ("7",), "", 10)
    assert table.row(chunk.rows[1][:2]) == RowChange(None, (7, 0.5))


def test_a_condition_that_reads_other_tables_is_refused_before_the_select() -> None:
    assert chunk_condition("a OR b", "`id` = 1") == "(a OR b) AND (`id` = 1)"
    assert chunk_condition("", "") == ""
    for where in ("1)) UNION ALL SELECT password FROM mysql.user -- ", "1 OR EXISTS (SELECT 1)"):
        with pytest.raises(SnapshotRefused, match="condition"):
            chunk_condition(where, "")


def test_named_keys_are_compared_as_their_columns_are_and_bad_ones_refused() -> None:
    table = copied_table(
        TABLE,
        described(
            DescribedColumn("a", "varchar", (10,), nullable=False, charset="utf8mb4"),
            DescribedColumn("b", "binary", (2,), nullable=False, charset="binary"),
            key=("a", "b"),
        ),
        mariadb=False,
    )
    one = "(`a` = _utf8mb4 X'7827' AND `b` = X'0102')"
    key = ("x'", "AQI=")
    assert keys_condition(table, [key], shard_in_keys=False) == one
    assert keys_condition(table, [], shard_in_keys=False) == ""
    for wrong in (("x",), ("x", "no base64!"), (str(TABLE), *key)):
        with pytest.raises(SnapshotRefused, match="key"):
            keys_condition(table, [wrong], shard_in_keys=False)

    def of_shards(*keys: tuple[str, ...]) -> str:
        return keys_condition(table, keys, shard_in_keys=True)

    assert of_shards((str(TABLE), *key), ("other.t", *key)) == one
    assert of_shards(key, ("other.t", *key)) == one, "a key without its shard is of all"
    assert of_shards(("other.t", *key)) == "FALSE", "never the whole table"
    assert of_shards() == ""
    with pytest.raises(SnapshotRefused, match="1 columns"):
        of_shards(("x",))

    check_shown_keys(table, [key], lambda _: False)
    check_shown_keys(table, [], lambda _: True)  # all rows: no key has to be found
    with pytest.raises(SnapshotRefused, match=rf"do not show {table.key_names[1]} of its key"):
        check_shown_keys(table, [key], lambda ordinal: ordinal == table.ordinals[1])


def test_keys_that_a_transform_changes_are_refused() -> None:
    """`added` columns follow those of the source; `made` is the id that messages have."""
    table = orders()

    def plan(key: tuple[int, ...]) -> Any:
        added = Column("shown", ColumnType.VARCHAR, nullable=True, charset="utf8mb4")
        return SimpleNamespace(
            definition=SimpleNamespace(
                map=SimpleNamespace(columns=(*table.map.columns, added)), key=key
            ),
            keys=SimpleNamespace(encode=lambda change: str(change.after[0]).encode()),
            refinement=SimpleNamespace(shown=lambda change: change),
        )

    kept = plan(table.ordinals)
    check_kept_key(table, kept)
    with pytest.raises(SnapshotRefused, match="shown"):
        check_kept_key(table, plan((len(table.map.columns),)))
    row = RowChange(None, (7, *(None,) * (len(table.map.columns) - 1)))

    def made(*keys: bytes) -> list[OutboundMessage]:
        return [OutboundMessage("shop", 0, key, b"", ()) for key in keys]

    check_kept_keys(table, kept, row, made(b"8", b"7"))
    check_kept_keys(table, kept, row, [])
    with pytest.raises(SnapshotRefused, match="changes the keys"):
        check_kept_keys(table, kept, row, made(b"8"))


@pytest.mark.parametrize(
    ("column", "key"),
    [
        (DescribedColumn("id", "float", nullable=False), ("id",)),
        (DescribedColumn("id", "text", nullable=False, charset="utf8mb4"), ("id",)),
        (DescribedColumn("id", "int"), ()),
        (DescribedColumn("id", "", nullable=False), ("id",)),
    ],
)
def test_a_table_without_a_usable_key_or_with_an_unknown_type_is_refused(
    column: DescribedColumn, key: tuple[str, ...]
) -> None:
    with pytest.raises(SnapshotRefused, match=r"shop\.orders"):
        copied_table(TABLE, described(column, key=key), mariadb=False)


@given(limit=st.integers(1, MOST_ROWS), rows=st.integers(0, 20), size=st.integers(0, 10_000_000))
def test_the_next_chunk_has_between_one_row_and_the_most(limit: int, rows: int, size: int) -> None:
    chunk = ReadChunk([(b"x" * min(size, 1000),)] * rows, PLACE)
    assert 1 <= next_limit(limit, chunk) <= min(MOST_ROWS, 4 * limit)
    assert 1 <= after_void(limit) <= max(1, limit // 2)


@pytest.mark.parametrize(
    ("kind", "raw", "value"),
    [
        ("decimal", b"-00012.30", "-12.30"),
        ("decimal", b"000.00", "0.00"),
        ("bit", b"\x01\x00", 256),
        ("binary", b"ab\0\0", b"ab"),
        ("uuid", b"123e4567-e89b-12d3-a456-426655440000", bytes.fromhex(_UUID)),
        ("inet4", b"10.0.0.0", b"\x0a"),
        ("inet6", b"1::", b"\0\x01"),
        ("time", b"-838:59:59.0", "-838:59:59.0"),
        ("varchar", b"\xe9", b"\xe9"),
    ],
)  # fmt: skip
def test_an_answer_is_the_value_that_a_row_event_holds(
    kind: str, raw: bytes, value: object
) -> None:
    assert value_reader(DescribedColumn("c", kind))(raw) == value


class BoundedSource:
    """Answers the key up to which rows are searched, and what is found up to there."""

    def __init__(self, *bound: tuple[str]) -> None:
        self.bound = list(bound)
        self.asked: list[str] = []

    load = 1

    def threads_running(self) -> int:
        return self.load

    def rows(self, sql: str, *_: str) -> list[tuple[str]]:
        if "information_schema" in sql:
            return []
        self.asked.append(sql)
        return self.bound

    def read(self, _low: Low, select: str) -> ReadChunk:
        self.asked.append(select)
        return ReadChunk([], PLACE)


def orders() -> CopiedTable:
    key = DescribedColumn("id", "bigint", nullable=False)
    return copied_table(TABLE, described(key, key=("id",)), mariadb=False)


def asked(source: Any, **request: Any) -> Any:
    found = read_chunk(
        orders(),
        SnapshotRequest("1", "x", **request),
        ("7",),
        10,
        Low("1", "", None, PLACE),
        LIMITS,
    )(source)
    assert found is not None
    return found


def test_a_condition_that_few_rows_meet_is_asked_of_a_bounded_number_of_rows() -> None:
    source = BoundedSource(("1007",))
    chunk = asked(source, where="v = 1")
    bound, select = source.asked
    assert bound == (
        "SELECT CAST(`id` AS CHAR) FROM `shop`.`orders` WHERE `id` > 7 ORDER BY `id` LIMIT 999, 1"
    )
    assert "WHERE (`id` > 7 AND `id` <= 1007) AND ((v = 1)) ORDER" in select
    assert not is_last(chunk, 10)
    assert end_of(orders(), chunk, 10) == ("1007",)
    full = replace(chunk, rows=[(b"9", b"9")] * 10)
    assert end_of(orders(), full, 10) == ("9",)


def test_no_chunk_is_read_while_the_source_has_much_to_do_or_live_rows_lag() -> None:
    source = BoundedSource()
    source.load = 26
    assert asked(source) == CopyWait(
        "Threads_running of the source is 26, above copying.threads_running = 25"
    )
    assert source.asked == []
    source.load = 25
    assert isinstance(asked(source), ReadChunk)
    assert decide_by_source_load(CopyingSettings(threads_running=0), 1000) is None
    assert [decide_by_lag(LIMITS, lag_s) is None for lag_s in (None, 0.0, 10.0, 10.5)] == [
        True,
        True,
        True,
        False,
    ]
    assert decide_by_lag(CopyingSettings(lag_seconds=0), 99.0) is None


def test_the_last_rows_and_named_keys_have_no_bound() -> None:
    source = BoundedSource()
    assert is_last(asked(source, where="v = 1"), 10)
    assert "WHERE (`id` > 7) AND ((v = 1)) ORDER" in source.asked[-1]
    asked(source, keys=(("9",),))
    assert len(source.asked) == 3
    assert "(`id` = 9)" in source.asked[-1]


def test_a_chunk_that_is_not_answered_is_halved_and_then_refused_by_name() -> None:
    error = SourceUnreachable("The read timed out.")
    limits = [first_limit(timeouts) for timeouts in range(MOST_TIMEOUTS + 2)]
    assert limits == [100, 50, 25, 12, 6, 3, 1, 1]
    check_timeouts(MOST_TIMEOUTS - 1, error, TABLE)
    with pytest.raises(SnapshotRefused, match=r"6 reads of shop\.orders .* timed out") as refused:
        check_timeouts(MOST_TIMEOUTS, error, TABLE)
    assert "ENUM" in str(refused.value)


class Reader:
    """Answers each question at once, by its name."""

    waiting = False

    def __init__(self) -> None:
        self._answer: tuple[object] | None = None

    def ask(self, question: Any) -> None:
        name = getattr(getattr(question, "func", question), "__name__", "")
        self._answer = (self.answered(name, question),)

    def answered(self, name: str, question: Any) -> object:
        raise NotImplementedError(name, question)

    def answer(self) -> tuple[object] | None:
        found, self._answer = self._answer, None
        return found


class SlowReader(Reader):
    """Never answers the chunk."""

    def __init__(self) -> None:
        super().__init__()
        self.limits: list[str] = []

    def answered(self, name: str, question: Any) -> object:
        if name == "tables_of_source":
            return [KnownTable(TABLE, False, "InnoDB", 1)]
        if name == "described":
            return orders()
        source = BoundedSource()
        question(source)
        self.limits.append(source.asked[-1].rpartition(" ")[2])
        return SourceUnreachable("The read timed out.")


def run_of(
    monkeypatch: pytest.MonkeyPatch, number: str, reader: Any
) -> tuple[copy_run.CopyRun, Callable[[], None]]:
    """A run of a request for all tables, and what advances it a hundred times."""
    clock = iter(range(0, 10_000, 10))
    monkeypatch.setattr(copy_run, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(copy_run, "meant", lambda tables, *_: tables)
    nothing: Any = None
    request = SnapshotRequest(number, "x")
    instance: Any = SimpleNamespace(copying=LIMITS, routing=SimpleNamespace(key_scope="table"))
    run = copy_run.CopyRun(request, SnapshotProgress(), nothing, reader, instance)
    source = SimpleNamespace(
        identity=SimpleNamespace(server="1"), gtid_set="", last=None, binlog=PLACE
    )
    record: Any = SimpleNamespace(source=source)

    def advance_often() -> None:
        for _ in range(100):
            run.advance(lambda: record, nothing, nothing)

    return run, advance_often


def test_a_run_reads_fewer_rows_after_each_timeout_and_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader = SlowReader()
    _, advance_often = run_of(monkeypatch, "1", reader)
    with pytest.raises(SnapshotRefused, match="did not answer 6 reads"):
        advance_often()
    assert reader.limits == ["100", "50", "25", "12", "6", "3"]


class Refusing(Reader):
    """A source whose tables cannot be copied: one by its engine, two without a key."""

    def answered(self, name: str, question: Any) -> object:
        del question
        if name != "tables_of_source":
            return SnapshotRefused("It has no key.")
        engines = {"bare": "InnoDB", "heap": "MEMORY", "other": "InnoDB"}
        return [
            KnownTable(TableId("shop", table), False, engine, 1)
            for table, engine in engines.items()
        ]


@pytest.mark.parametrize("own", [True, False])
def test_a_request_of_the_relay_leaves_out_what_cannot_be_copied(
    monkeypatch: pytest.MonkeyPatch, *, own: bool
) -> None:
    run, advance_often = run_of(monkeypatch, "initial-1-a" if own else "1-a", Refusing())
    if own:
        advance_often()
        assert run.progress.done
        assert sorted(run.refusals) == ["shop.bare", "shop.heap", "shop.other"]
        assert "MEMORY" in run.refusals["shop.heap"]
        run.tables_changed("a statement")
        assert run.refusals == {}, "an ALTER TABLE may have given it a key"
    else:
        with pytest.raises(SnapshotRefused, match="MEMORY"):
            advance_often()


class Chunks(Reader):
    """Two tables of about 1,000 rows, read in chunks of these sizes."""

    def __init__(self, *sizes: int) -> None:
        super().__init__()
        self._sizes = list(sizes)

    def answered(self, name: str, question: Any) -> object:
        if name == "tables_of_source":
            ids = [TableId("shop", table) for table in ("orders", "user")]
            return [KnownTable(each, False, "InnoDB", 1000) for each in ids]
        if name == "described":
            found = orders()
            return replace(found, map=replace(found.map, id=question.args[1].id))
        return ReadChunk([(b"1", b"1")] * self._sizes.pop(0), PLACE)


def test_rows_of_finished_tables_are_not_among_those_that_are_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, advance_often = run_of(monkeypatch, "1-a", Chunks(100, 50, 100))
    left = []
    for rows in (100, 50, 100):
        advance_often()
        ready = run.ready(PLACE)
        assert ready is not None
        run.published(ready, rows, 100)
        left.append((run.view.table, run.view.remaining))
    assert left == [("shop.orders", 1900), ("shop.user", 1000), ("shop.user", 900)]

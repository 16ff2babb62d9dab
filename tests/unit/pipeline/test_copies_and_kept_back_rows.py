"""Rows of a chunk that meet an ALTER, a dead letter, or a change whose row image is partial."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from relay.errors import SnapshotRefused
from relay.model.change import Operation, RowChange, RowsEvent
from relay.model.names.column_likeness import ColumnLikeness
from relay.model.positions.position import BinlogPosition
from relay.model.records.snapshot_progress import SnapshotProgress
from relay.model.table import Column, ColumnType, TableId, TableMap
from relay.model.value import ABSENT
from relay.pipeline.copying import copy_run
from relay.pipeline.copying.chunk_select import MOST_MOVES, read_chunk
from relay.pipeline.copying.key_types import TableChanged, column_facts, with_key_types
from relay.pipeline.copying.known_tables import KnownTable
from relay.pipeline.copying.noted_changes import moves_unseen, note_changes
from relay.pipeline.copying.table_copies import TableCopies
from relay.pipeline.copying.window import Verdict, Window
from relay.pipeline.publishing.row_publisher import RowPublisher
from relay.route import Dropped, TableFilter
from relay.schema import CopiedTable, DescribedTable, copied_table
from relay.schema.history.described import DescribedColumn
from relay.settings import CopyingSettings, FilterSettings, InstanceSettings
from relay.source import Low, ReadChunk
from relay.state import SnapshotRequest
from tests.support.rows.table_plans import table_definition, table_plan

TABLE = TableId("shop", "users")
PLACE = BinlogPosition("m-bin.000001", 4)
BIN = (("a", "varchar(9)", "utf8mb4_bin"), ("v", "varchar(9)", "latin1_bin"))
NOPAD = (("a", "varchar(9)", "utf8mb4_nopad_bin"), BIN[1])
UTF8 = (BIN[0], ("v", "varchar(9)", "utf8mb4_bin"))
SWAPPED = (BIN[1], BIN[0])


class Source:
    """A table of 50 rows whose columns the catalogue describes in turn, as statements change it."""

    def __init__(self, *facts: tuple[tuple[str, str, str], ...]) -> None:
        self._facts = list(facts)
        self.reads = 0

    def rows(self, _sql: str, *names: str) -> list[tuple[str, str, str]]:
        assert names == TABLE
        return list(self._facts.pop(0) if len(self._facts) > 1 else self._facts[0])

    def read(self, _low: Low, _select: str) -> ReadChunk:
        self.reads += 1
        return ReadChunk([(b"x", b"y", b"78")] * 50, PLACE)


def users(source: Any) -> CopiedTable:
    columns = tuple(
        DescribedColumn(name, "varchar", (9,), nullable=False, charset="utf8mb4") for name in "av"
    )
    found = with_key_types(
        copied_table(TABLE, DescribedTable(columns, ("a",), "utf8mb4", ()), mariadb=True),
        column_facts(TABLE, source),
    )
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("after", "is_read"), [(BIN, True), (NOPAD, False), (UTF8, False), (SWAPPED, False)]
)
def test_a_chunk_is_valid_only_if_its_table_has_the_same_columns_afterwards(
    after: tuple[tuple[str, str, str], ...], *, is_read: bool
) -> None:
    source: Any = Source(BIN, after)
    request, low = SnapshotRequest("1", "x"), Low("1", "", None, PLACE)
    found = read_chunk(users(source), request, (), 100, low, CopyingSettings(threads_running=0))(
        source
    )
    assert isinstance(found, ReadChunk) is is_read
    assert isinstance(found, TableChanged) is not is_read


class Reader:
    """Answers each question at once, from one source."""

    waiting = False

    def __init__(self, source: Any) -> None:
        self._source = source
        self._answer: tuple[object] | None = None

    def ask(self, question: Any) -> None:
        name = getattr(getattr(question, "func", question), "__name__", "")
        found: object = [KnownTable(TABLE, False, "InnoDB", 1)]
        if name == "described":
            found = users(self._source)
        elif name != "tables_of_source":
            found = question(self._source)
        self._answer = (found,)

    def answer(self) -> tuple[object] | None:
        found, self._answer = self._answer, None
        return found


def run_of(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> tuple[copy_run.CopyRun, Callable[[], None]]:
    """A run of a request that has read some of the table, and what advances it."""
    nothing: Any = None
    monkeypatch.setattr(copy_run, "meant", lambda tables, *_: tables)
    reader: Any = Reader(source)
    begun = SnapshotProgress(str(TABLE), ("a",), ("varchar(9) utf8mb4_bin",), ("78",), rows=100)
    instance: Any = SimpleNamespace(
        copying=CopyingSettings(threads_running=0), routing=SimpleNamespace(key_scope="table")
    )
    run = copy_run.CopyRun(SnapshotRequest("1", "x"), begun, nothing, reader, instance)
    place = SimpleNamespace(
        identity=SimpleNamespace(server="1"), gtid_set="", last=None, binlog=PLACE
    )
    record: Any = SimpleNamespace(source=place)
    return run, partial(run.advance, lambda: record, nothing, nothing)


def test_a_key_with_another_collation_does_not_end_its_table_before_the_stream_has_the_alter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first chunk is described by the former collation, and read by the one of the ALTER."""
    source = Source(BIN, NOPAD)
    run, advance = run_of(source, monkeypatch)
    while source.reads < 2:
        advance()
        if source.reads == 1:
            assert run.ready(PLACE) is None
    advance()
    assert run.progress.after == (), "the table is read from its beginning by the other collation"
    ready = run.ready(PLACE)
    assert ready is not None
    assert ready.table.key_types == ("varchar(9) utf8mb4_nopad_bin",)
    assert run.view.voided == 1


def test_moves_of_rows_are_counted_for_each_table(monkeypatch: pytest.MonkeyPatch) -> None:
    run, advance = run_of(Source(BIN), monkeypatch)
    for _ in range(MOST_MOVES - 1):
        run.begin_again()
    while (ready := run.ready(PLACE)) is None:
        advance()
    assert ready.is_last
    run.published(ready, 50)
    run.begin_again()
    advance()


MAP = TableMap(
    TABLE,
    (
        Column("v", ColumnType.VARCHAR, nullable=True, charset="utf8mb4"),
        Column("Id", ColumnType.LONG, nullable=False),
        Column("n", ColumnType.LONG, nullable=True),
    ),
    (1,),
)
PLAN = table_plan(table_definition(MAP), TABLE, "t", 4)
ALL = TableFilter(FilterSettings())
NO_UPDATES = TableFilter(FilterSettings(operations=("INSERT", "DELETE")))
WHOLE = RowChange(("x", 150, 1), ("x", 5, 1))
PARTIAL = RowChange((ABSENT, 150, ABSENT), (ABSENT, 5, ABSENT))
BEGUN = SnapshotProgress(str(TABLE), ("id",), ("int(11)",), ("100",), rows=100)


def update(*changes: RowChange) -> RowsEvent:
    return RowsEvent(Operation.UPDATE, MAP, changes, 0, PLACE, 9)


def test_a_row_whose_change_is_a_dead_letter_is_read_again() -> None:
    window = Window(TABLE, (1,), MAP.columns)
    change = RowChange(("x", 7, 1), ("y", 7, 1))
    note_changes(window, [update(change)], PLAN, ALL, kept_back=True)
    assert window.verdict(("y", 7, 1)) is Verdict.UNKNOWN
    note_changes(window, [update(change)], PLAN, ALL)
    assert window.verdict(("y", 7, 1)) is Verdict.DROPPED


@pytest.mark.parametrize(
    ("change", "accepted", "kept_back", "is_void"),
    [
        (WHOLE, ALL, False, False),
        (WHOLE, ALL, True, True),
        (WHOLE, NO_UPDATES, False, True),
        (PARTIAL, ALL, False, True),
    ],
)
def test_a_row_that_moves_without_a_whole_message_voids_the_chunk_and_begins_its_table_again(
    change: RowChange, accepted: TableFilter, *, kept_back: bool, is_void: bool
) -> None:
    """The SELECT may have shown neither key: the row was after the chunk, and is among it now."""
    window = Window(TABLE, (1,), MAP.columns)
    note_changes(window, [update(change)], PLAN, accepted, kept_back=kept_back)
    assert bool(window.void) is is_void
    moved = moves_unseen(BEGUN, [update(change)], PLAN, accepted, kept_back=kept_back)
    assert moved is is_void


@pytest.mark.parametrize(
    ("progress", "change", "moved"),
    [
        (BEGUN, PARTIAL, True),
        (replace(BEGUN, after=("4",)), PARTIAL, False),
        (replace(BEGUN, after=("4",), key_types=("varchar(9) latin1_bin",)), PARTIAL, True),
        (replace(BEGUN, after=()), PARTIAL, False),
        (replace(BEGUN, table="shop.other"), PARTIAL, False),
        (replace(BEGUN, key=("gone",)), PARTIAL, True),
        (BEGUN, RowChange((ABSENT, 5, ABSENT), (ABSENT, 5, 6)), False),
        (BEGUN, RowChange((ABSENT, 5, ABSENT), (ABSENT, ABSENT, 6)), False),
        (BEGUN, RowChange((ABSENT, ABSENT, 1), (ABSENT, ABSENT, 6)), True),
    ],
)
def test_a_row_has_moved_unless_its_key_is_the_same_or_among_those_that_are_left(
    progress: SnapshotProgress, change: RowChange, *, moved: bool
) -> None:
    assert moves_unseen(progress, [update(change)], PLAN, ALL, kept_back=False) is moved
    dropped = Dropped("", "")
    assert not moves_unseen(progress, [update(change)], dropped, ALL, kept_back=False)


def test_whole_images_are_not_decoded_to_find_moved_rows() -> None:
    event = update(PARTIAL)._replace(images_at=30)
    assert not moves_unseen(BEGUN, [event], PLAN, ALL, kept_back=False)


def test_a_moved_row_begins_its_table_again_in_each_request_and_ends_one_in_the_end() -> None:
    nothing: Any = None
    instance: Any = SimpleNamespace(
        copying=CopyingSettings(), routing=SimpleNamespace(key_scope="table")
    )
    idle: Any = SimpleNamespace(answer=lambda: None, waiting=True)
    run = copy_run.CopyRun(SnapshotRequest("1", "x"), BEGUN, nothing, idle, instance)
    record = SimpleNamespace(snapshots={"1": BEGUN, "paused": BEGUN, "other": SnapshotProgress()})

    def count_copied(_rows: int, _bytes: int, snapshots: dict[str, SnapshotProgress]) -> None:
        record.snapshots = snapshots

    copies = TableCopies.__new__(TableCopies)
    values: dict[str, Any] = {
        "_run": run,
        "_accepted": ALL,
        "_progress": SimpleNamespace(record=record),
        "_checkpoint": SimpleNamespace(count_copied=count_copied),
    }
    for name, value in values.items():
        setattr(copies, name, value)
    copies.changed([update(PARTIAL)], PLAN, kept_back=False)
    assert {name: each.after for name, each in record.snapshots.items()} == {
        "1": (),
        "paused": (),
        "other": (),
    }
    assert run.progress == BEGUN.begun_again()
    for _ in range(MOST_MOVES - 1):
        run.advance(nothing, nothing, nothing)
        run.begin_again()
    with pytest.raises(SnapshotRefused, match=r"4 times a row of shop\.users got another key"):
        run.advance(nothing, nothing, nothing)


@pytest.mark.parametrize("kept_back", [False, True])
def test_the_publisher_tells_copies_which_changes_are_dead_letters(*, kept_back: bool) -> None:
    settings = InstanceSettings.model_validate(
        {"name": "shop", "source": {"host": "h", "user": "u", "server_id": 7}}
    )
    anything: Any = SimpleNamespace(
        progress=SimpleNamespace(skip_reason=None),
        tables=set(),
        likeness=ColumnLikeness(),
        plan=lambda _: PLAN,
    )
    oversize: Any = SimpleNamespace(kept_back=3)

    class Rows(RowPublisher):
        def _send(self, events: Any, plan: Any) -> None:
            del events, plan
            oversize.kept_back += kept_back

    told: list[bool] = []
    rows = Rows(settings, anything, anything, anything, anything, oversize)
    copies: Any = SimpleNamespace(changed=lambda *_, kept_back: told.append(kept_back))
    rows.copies = copies
    rows.publish([update(WHOLE)])
    assert told == [kept_back]

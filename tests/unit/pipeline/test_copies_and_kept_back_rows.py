"""Rows of a chunk that meet an ALTER, a dead letter, or a change whose row image is partial."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from relay.model.positions.position import BinlogPosition
from relay.model.records.snapshot_progress import SnapshotProgress
from relay.model.table import TableId
from relay.pipeline.copying import copy_run
from relay.pipeline.copying.chunk_select import read_chunk
from relay.pipeline.copying.key_types import TableChanged, column_facts, with_key_types
from relay.pipeline.copying.known_tables import KnownTable
from relay.schema import CopiedTable, DescribedTable, copied_table
from relay.schema.history.described import DescribedColumn
from relay.settings import CopyingSettings
from relay.source import Low, ReadChunk
from relay.state import SnapshotRequest

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


def test_a_key_with_another_collation_does_not_end_its_table_before_the_stream_has_the_alter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first chunk is described by the former collation, and read by the one of the ALTER."""
    nothing: Any = None
    monkeypatch.setattr(copy_run, "meant", lambda tables, *_: tables)
    source: Any = Source(BIN, NOPAD)
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
    advance = partial(run.advance, lambda: record, nothing, nothing)
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

"""Under which order pairs a table is copied, by what is noted of it."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from relay.model.table import TableId
from spark_jobs.apply.renames.names import Rename
from spark_jobs.apply.renames.store import KeptRename
from spark_jobs.apply.table_writer import TableWriter
from spark_jobs.first_copy import TableNote, begin
from spark_jobs.first_copy.notes import begin_line, end_line, note_of, round_line
from spark_jobs.first_copy.shape import definition_of, shape_of
from spark_jobs.kafka.relay_positions import Published
from spark_jobs.origin import Shard, SourceColumn
from spark_jobs.origin.shards import LogicalTable

ID, N = SourceColumn("id", "int", "int"), SourceColumn("n", "int", "int")
TABLE = LogicalTable("shop.t", (Shard("one", TableId("db", "t"), "shop.t", (ID, N), ("id",)),))
RENAMED = LogicalTable("shop.t", (replace(TABLE.shards[0], columns=(ID, replace(N, name="m"))),))
PLACE = "delta /copies"
SINK = cast("Any", SimpleNamespace(read=lambda _table: "a copy"))
EMPTY = cast("Any", SimpleNamespace(read=lambda _table: None))


class Log:
    """The notes of one table, in memory; before the test it was begun under the pair "old"."""

    def __init__(self, *, definition: str = definition_of(TABLE)) -> None:
        self.lines = [begin_line(None, "r", {"one": "old"}, {}, shape_of(TABLE, PLACE), definition)]

    def rows(self, count: int) -> "Log":
        self.lines.append(round_line(self._note, [("one/db.t", None)], count))
        return self

    def finished(self) -> "Log":
        self.lines.append(end_line(self._note, 0))
        return self

    def read(self, _table: str) -> TableNote | None:
        return note_of(self.lines)

    def add(self, _table: str, _before: TableNote | None, line: str) -> TableNote:
        self.lines.append(line)
        return self._note

    @property
    def _note(self) -> TableNote:
        note = note_of(self.lines)
        assert note is not None
        return note


def published(order: str) -> Mapping[str, Published]:
    return {"one": Published(order, "binlog.000001", 4, "", 1, "")}


class Renamed:
    """What the stream has followed: a rename of columns of the table with this order."""

    def __init__(self, order: str) -> None:
        self._order = order

    def read(self) -> list[KeptRename]:
        return [KeptRename((TABLE.name, "one/db.t"), Rename(self._order, "[]"), done=True)]


def writer_of(sink: Any, renames: Any = None) -> TableWriter:
    return TableWriter(sink, "bootstrap", renames=renames)


def pair(
    log: Log,
    table: LogicalTable = TABLE,
    sink: Any = SINK,
    renames: Renamed | None = None,
    *,
    anew: bool = False,
) -> str:
    writer = writer_of(sink, renames)

    def fresh(_instances: Collection[str]) -> Mapping[str, Published]:
        return published("new")

    begun = begin([table], cast("Any", log), writer, PLACE, published("earlier"), fresh, anew=anew)
    assert begun is not None
    return begun["shop.t"].pairs["one"]


@pytest.mark.parametrize(
    ("log", "table", "expected"),
    [
        (Log(), TABLE, "new"),
        (Log().rows(0), TABLE, "new"),
        (Log().rows(5), TABLE, "old"),
        (Log().rows(5), RENAMED, "new"),
        (Log(definition="").rows(5), TABLE, "new"),
        (Log().rows(5).finished(), TABLE, "old"),
        (Log().rows(5).finished(), RENAMED, "old"),
        (Log(definition="").rows(5).finished(), TABLE, "old"),
        (Log().finished(), TABLE, "old"),
    ],
    ids=[
        "nothing noted",
        "only empty ranges noted",
        "rows noted",
        "rows noted, column renamed",
        "rows noted by an older version",
        "finished",
        "finished, column renamed since",
        "finished by an older version",
        "finished without rows",
    ],
)
def test_the_pair_of_a_table(log: Log, table: LogicalTable, expected: str) -> None:
    assert pair(log, table) == expected


@pytest.mark.parametrize(
    ("log", "order", "expected"),
    [
        (Log().rows(5), "old", "old"),
        (Log().rows(5), "older", "new"),
        (Log().rows(5).finished(), "older", "old"),
    ],
    ids=["not above the order key", "above the order key", "finished"],
)
def test_a_rename_that_the_stream_has_followed_begins_an_unfinished_table_again(
    log: Log, order: str, expected: str
) -> None:
    assert pair(log, renames=Renamed(order)) == expected


def test_a_finished_table_is_copied_again_on_request_or_where_its_copy_is_gone_or_elsewhere() -> (
    None
):
    assert pair(Log().rows(5).finished(), anew=True) == "new"
    assert pair(Log().rows(5).finished(), sink=EMPTY) == "new"
    other = LogicalTable("shop.t", (replace(TABLE.shards[0], key_names=("n",)),))
    assert pair(Log().rows(5).finished(), other) == "new"


def test_an_end_that_is_asked_for_while_the_relay_is_awaited_begins_nothing() -> None:
    log = Log()
    assert (
        begin(
            [TABLE],
            cast("Any", log),
            writer_of(SINK),
            PLACE,
            published("earlier"),
            lambda _: None,
            anew=False,
        )
        is None
    )
    assert len(log.lines) == 1

"""When a first copy notes what it did, and when it must not: its reads and writes are made up."""

from itertools import count
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import pytest

from relay.model.table import TableId
from spark_jobs.config.copy import BootstrapSettings
from spark_jobs.errors import SourceNotTheOne, TableChanged, TableSwapped
from spark_jobs.first_copy import FirstCopy, TableNote, begin_line
from spark_jobs.first_copy.alterations import unswapped
from spark_jobs.first_copy.copy_run import Unmet
from spark_jobs.first_copy.notes import note_of, round_line
from spark_jobs.origin import Shard, SourceColumn
from spark_jobs.origin.shards import LogicalTable

ORDER = "0000000000001.0000000000000000001"
TABLE = LogicalTable(
    "shop.t",
    (Shard("one", TableId("db", "t"), "shop.t", (SourceColumn("id", "int", "int"),), ("id",)),),
)


class Log:
    """Notes that lie in a list."""

    def __init__(self) -> None:
        self.lines = [begin_line(None, "r", {"one": ORDER})]

    @property
    def note(self) -> TableNote:
        note = note_of(self.lines)
        assert note is not None
        return note

    def add(self, _table: str, _before: TableNote | None, line: str) -> TableNote:
        self.lines.append(line)
        return self.note


class MadeUp(FirstCopy):
    """Each round is the rest of the table; keys stay undecided."""

    __slots__ = ()

    def _ahead(self, *_: Any, **__: Any) -> None:
        return None

    def _copy_round(self, *_: Any, **__: Any) -> int:
        return 5

    def _unmet(self, *_: Any, **__: Any) -> Unmet:
        return Unmet(2, 1, {"one": ORDER})


def made_up(log: Log, kind: type[FirstCopy] = MadeUp, **given: Any) -> FirstCopy:
    nothing: Any = None
    own = {
        "positions": nothing,
        "check": lambda _: None,
        "altered": lambda _: {},
        "stopping": lambda _: False,
        "progress": lambda *_: None,
        **given,
    }
    writer = cast("Any", SimpleNamespace(check_names=lambda *_: None))
    return kind({}, nothing, writer, cast("Any", log), BootstrapSettings(), **own)


def test_a_round_that_another_server_answered_is_not_noted() -> None:
    def another(_table: LogicalTable) -> None:
        raise SourceNotTheOne("another")

    log = Log()
    with pytest.raises(SourceNotTheOne):
        made_up(log, check=another).copy(TABLE, log.note)
    assert (log.note.rows, log.note.shards) == (0, {})


def test_a_round_is_read_again_while_the_table_is_altered_meanwhile() -> None:
    times = iter(["1", "2", "2", "2"])
    log = Log()
    run = made_up(log, altered=lambda _: {"one/db.t": next(times, "2")}, stopping=lambda _: True)
    assert run.copy(TABLE, log.note).rows == 5
    assert next(times, None) is None
    assert len(log.lines) == 2


def test_a_table_that_is_altered_in_every_round_is_left_out() -> None:
    log, times = Log(), count()
    with pytest.raises(TableChanged, match="altered each time"):
        made_up(log, altered=lambda _: {"one/db.t": str(next(times))}).copy(TABLE, log.note)
    assert log.note.rows == 0


class Swapped(MadeUp):
    """The source has another table under the name in this many rounds."""

    __slots__ = ()
    rounds: ClassVar[list[str]] = []

    def _copy_round(self, *_: Any, **__: Any) -> int:
        if self.rounds:
            raise TableSwapped(self.rounds.pop())
        return 5


@pytest.mark.parametrize(("rounds", "rows"), [(1, 5), (2, 5), (3, 0)])
def test_a_round_with_another_table_is_read_again(
    monkeypatch: pytest.MonkeyPatch, rounds: int, rows: int
) -> None:
    monkeypatch.setattr(Swapped, "rounds", ["swapped"] * rounds)
    log = Log()
    own = {"altered": lambda _: {"one/db.t": "1"}, "stopping": lambda _: True}
    copied = made_up(log, Swapped, **own).copy
    if rows:
        assert copied(TABLE, log.note).rows == rows
    else:
        with pytest.raises(TableChanged, match="altered each time"):
            copied(TABLE, log.note)
    assert log.note.rows == rows


def test_a_query_is_refused_where_the_name_means_a_table_of_another_time() -> None:
    (shard,) = TABLE.shards
    condition = unswapped(shard, {shard.name: "2026-01-01 00:00:00"})
    assert "CREATE_TIME" in condition
    assert f"X'{b'db'.hex()}'" in condition
    assert "'2026-01-01 00:00:00'" in condition
    assert unswapped(shard, {shard.name: None}) == unswapped(shard, {}) == "TRUE"


@pytest.mark.parametrize("stopped", [True, False])
def test_a_run_that_is_stopped_before_all_keys_are_decided_has_not_ended(stopped: bool) -> None:
    log = Log()
    log.lines.append(round_line(log.note, [("one/db.t", None)], 5))
    figures = made_up(log, stopping=lambda _: stopped).copy(TABLE, log.note)
    assert (figures.ended, log.note.ended) == (not stopped, not stopped)

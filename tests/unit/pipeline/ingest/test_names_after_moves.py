"""The schema history after a switch or a move: it continues only where no statement between can be
missed, otherwise the source's catalogue describes the tables.
"""

from dataclasses import replace
from typing import Any

import pytest

from relay.errors import BinlogPurged
from relay.model.change import Statement, TransactionEnd
from relay.model.message import OutboundMessage
from relay.model.positions.position import BinlogPosition, OrderPair, SourceIdentity, SourcePosition
from relay.model.records.position_record import OtherSource, PositionRecord
from relay.model.table import Column, ColumnType, Logged, TableId, TableMap
from relay.operations.positions.repositioning import plan_reposition
from relay.pipeline.checkpoint.source_progress import SourceProgress
from relay.pipeline.failover.source_switch import switched_record
from relay.pipeline.ingest.names import kept_history, schema_bootstrap
from relay.pipeline.ingest.names.schema_history import TableNames, open_names
from relay.schema import Base, CatalogSnapshot, HistoryPosition, Version
from relay.schema.history import DescribedColumn, DescribedTable
from relay.settings import SourceSettings
from relay.source import ProvenPosition, ServerFacts

OLD, NEW = SourceIdentity("", 7, 100), SourceIdentity("", 8, 50)
TABLE = TableId("d", "t")
BARE = TableMap(
    TABLE, (Column("", ColumnType.LONG, nullable=True),), logged=Logged.NOTHING, unknown="none"
)


def described(name: str) -> DescribedTable:
    return DescribedTable((DescribedColumn(name, "int"),))


def place(number: int, offset: int) -> HistoryPosition:
    return HistoryPosition.of(OLD, f"b.{number:06}", offset)


KEPT = (
    Base(place(5, 100)),
    Version(place(5, 100), TABLE, described("kept"), initial=True),
    Version(place(5, 400), TABLE, described("altered")),
)


def position(
    number: int, offset: int, identity: SourceIdentity = OLD, gtid_set: str = ""
) -> SourcePosition:
    return SourcePosition(BinlogPosition(f"b.{number:06}", offset), gtid_set, identity)


END = position(5, 900)
RECORD = PositionRecord(END, OrderPair(1, 1), 0, 1, names=END)


class Records:
    topic = "x.schema.shop"

    def __init__(self, *records: Version | Base) -> None:
        self.held = {each.key: each.to_bytes() for each in records}

    def ensure_topic(self) -> bool:
        return False

    def read(self) -> dict[bytes, bytes]:
        return self.held

    def messages(self, records: Any) -> list[OutboundMessage]:
        return [OutboundMessage(self.topic, 0, key, value, ()) for key, value in records]


class Source:
    """A server whose catalogue has the table with the column `today`.

    `created` are the creation times of its binlog files, `statements` what they log.
    """

    def __init__(self) -> None:
        self.created = {"b.000005": OLD.file_created_s}
        self.statements: list[Statement] = []
        self.held: list[str] = []

    def created_s(self, _: SourceSettings, file: str) -> int:
        if file not in self.created:
            raise BinlogPurged(f"{file} is gone.")
        return self.created[file]

    def between(
        self, _: SourceSettings, after: BinlogPosition, until: BinlogPosition, held: str = ""
    ) -> list[tuple[Statement, int, str]]:
        self.held.append(held)
        return [
            (each, OLD.file_created_s, "")
            for each in self.statements
            if after.rank <= each.position.rank < until.rank
        ]

    def may_describe(self, _: TableId) -> bool:
        return True

    def snapshot(self, _: Any) -> CatalogSnapshot:
        return CatalogSnapshot(tables={TABLE: described("today")}, databases={"d": "utf8mb4"})


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> Source:
    source = Source()
    monkeypatch.setattr(kept_history, "binlog_file_created_s", source.created_s)
    for module in (kept_history, schema_bootstrap):
        monkeypatch.setattr(module, "statements_between", source.between)
    monkeypatch.setattr(schema_bootstrap, "end_of_binlog", lambda _: BinlogPosition("b.000009", 9))
    monkeypatch.setattr(kept_history, "beginning_of_binlog", lambda _: position(1, 4))
    return source


def opened(source: Source, record: PositionRecord, *more: Version | Base) -> tuple[str, TableNames]:
    """Return the column's name, or why it is unknown; and what completes table maps."""
    server = record.source.identity.server_id
    facts = ServerFacts("mariadb", (11, 4, 5), "11.4.5-MariaDB", server, "", {})
    records: Any = Records(*KEPT, *more)
    catalog: Any = source
    settings = SourceSettings(host="h", user="u", server_id=9)
    names = open_names(records, settings, record.source, facts, catalog, record.names, [])
    assert names is not None
    whole = names.complete(BARE)
    return whole.unknown or whole.columns[0].name, names


def test_a_proven_switch_continues_with_what_was_known(source: Source) -> None:
    moved = switched_record(RECORD, ProvenPosition(position(3, 4, NEW, "0-7-9")))
    assert opened(source, moved)[0] == "altered"


@pytest.mark.parametrize("loss", [{"repeats": True}, {"lost": "0-7-9"}, {"left_out": "0-7-9"}])
def test_a_switch_that_repeats_or_loses_statements_asks_the_catalogue(
    source: Source, loss: dict[str, Any]
) -> None:
    """An ALTER that is repeated comes after rows of the former columns, under the same types."""
    moved = switched_record(RECORD, ProvenPosition(position(3, 300, NEW), **loss))
    assert opened(source, moved)[0] == "today"
    source.statements = [
        Statement("ALTER TABLE t CHANGE a b INT", "d", 1, BinlogPosition("b.000003", 450))
    ]
    assert "was changed at b.000003:450" in opened(source, moved)[0]


def test_a_history_that_was_not_followed_to_the_switch_asks_the_catalogue(source: Source) -> None:
    """The former server named its columns itself: its statements are not in the history."""
    behind = replace(RECORD, names=position(5, 300))
    moved = switched_record(behind, ProvenPosition(position(3, 4, NEW)))
    assert opened(source, moved)[0] == "today"


def test_a_history_of_another_server_is_not_kept_while_this_one_names_its_columns() -> None:
    at = OtherSource(position(3, 4, NEW), END)
    progress = SourceProgress(at, keeps_gtids=False, follows_names=False)
    progress.end = TransactionEnd(BinlogPosition("b.000003", 700), "", NEW)
    assert progress.standing.names is None


@pytest.mark.parametrize("number", [1, 5, 7])
def test_as_new_after_a_reset_asks_the_catalogue(source: Source, number: int) -> None:
    """Files of the same names, whether the numbers are smaller, equal or greater than before."""
    again = replace(OLD, file_created_s=200)
    source.created = {f"b.{each:06}": 200 for each in range(1, 9)}
    move = plan_reposition(RECORD, position(number, 950, again), [], as_new=True, latest_ms=1)
    assert opened(source, move.after)[0] == "today"


def test_as_new_on_another_server_asks_the_catalogue(source: Source) -> None:
    move = plan_reposition(RECORD, position(5, 900, NEW), [], as_new=True, latest_ms=1)
    assert opened(source, move.after)[0] == "today"


@pytest.mark.parametrize(("offset", "column"), [(300, "kept"), (500, "altered")])
def test_as_new_in_the_same_binlog_goes_back_to_the_names_of_its_day(
    source: Source, offset: int, column: str
) -> None:
    move = plan_reposition(RECORD, position(5, offset), [], as_new=True, latest_ms=1)
    assert opened(source, move.after)[0] == column


def test_a_move_forward_follows_the_statements_between_but_none_that_the_set_holds(
    source: Source,
) -> None:
    source.statements = [
        Statement("ALTER TABLE t CHANGE altered later INT", "d", 1, BinlogPosition("b.000005", 950))
    ]
    held = replace(RECORD, source=replace(END, gtid_set="0-7-9"))
    move = plan_reposition(held, position(6, 4), [], as_new=False, latest_ms=1)
    assert opened(source, move.after)[0] == "later"
    assert source.held == ["0-7-9"]


def test_a_place_at_which_another_server_was_read_asks_the_catalogue_and_joins_the_bases(
    source: Source,
) -> None:
    """The instance came back to this server at b.000007:4. Nobody followed it from 5:900 to 7:4."""
    source.created = {"b.000007": 100}
    back = (Base(place(7, 4)), Version(place(7, 4), TABLE, described("back"), initial=True))
    record = replace(RECORD, source=position(7, 500), names=position(7, 500))
    move = plan_reposition(record, position(6, 700), [], as_new=True, latest_ms=1)
    found, names = opened(source, move.after, *back)
    assert found == "today"
    taken = {each.key: each.value for each in names.taken(BinlogPosition("b.000006", 800))}
    assert taken[back[0].key] is None


ALTER = Statement("ALTER TABLE t CHANGE kept altered INT", "d", 1, BinlogPosition("b.000005", 400))


@pytest.mark.parametrize(
    ("reached", "target"),
    [
        (position(7, 900, replace(OLD, file_created_s=300)), position(5, 300)),
        (position(4, 900, replace(OLD, file_created_s=50)), position(5, 300)),
    ],
)
def test_a_statement_right_after_a_move_is_kept_at_its_own_position(
    source: Source, reached: SourcePosition, target: SourcePosition
) -> None:
    """Positions are ordered by the creation of their file: that of the former position would put
    the statement before or after other changes of the table.
    """
    source.created = {"b.000004": 50, "b.000005": 100, "b.000007": 300}
    former = Base(HistoryPosition.of(reached.identity, "b.000004", 4))
    before = Version(former.position, TABLE, described("kept"), initial=True)
    record = replace(RECORD, source=reached, names=reached)
    move = plan_reposition(record, target, [], as_new=True, latest_ms=1)
    more = (former, before) if reached.binlog.rank < target.binlog.rank else ()
    found, names = opened(source, move.after, *more)
    assert found == "kept"
    names.apply(ALTER)
    (taken,) = names.taken(BinlogPosition("b.000005", 500))
    assert taken.key == KEPT[2].key


SWITCHED = HistoryPosition.of(NEW, "b.000003", 4)


@pytest.mark.parametrize(
    ("held", "target", "column"),
    [
        ("0-7-9", position(3, 300, NEW, "0-7-5"), "today"),
        ("0-7-9", position(3, 300, NEW), "today"),
        ("0-7-9", position(3, 600, NEW, "0-7-9"), "of the switch"),
        ("0-7-9", position(4, 300, NEW, "0-8-12"), "of the switch"),
        ("", position(3, 300, NEW), "of the switch"),
        (None, position(3, 300, NEW), "today"),
        (None, position(4, 300, NEW), "of the switch"),
    ],
)
def test_as_new_to_before_transactions_that_a_switch_held_asks_the_catalogue(
    source: Source, held: str | None, target: SourcePosition, column: str
) -> None:
    """A switch begins at the start of a file, and its base has the changes of statements there that
    the server did not send again. A former version did not store which.
    """
    source.created = {"b.000004": NEW.file_created_s}
    base = (
        Base(SWITCHED, held),
        Version(SWITCHED, TABLE, described("of the switch"), initial=True),
    )
    reached = position(4, 900, NEW, "0-8-20")
    record = replace(RECORD, source=reached, names=reached)
    move = plan_reposition(record, target, [], as_new=True, latest_ms=1)
    assert opened(source, move.after, *base)[0] == column


@pytest.mark.parametrize("is_exact", [True, False])
def test_the_base_of_a_switch_names_the_set_that_it_was_made_at(
    source: Source, is_exact: bool
) -> None:
    proven = ProvenPosition(position(3, 4, NEW, "0-7-9"), repeats=not is_exact)
    _, names = opened(source, switched_record(RECORD, proven))
    first = names.taken(BinlogPosition("b.000003", 4))[0]
    assert first.value == Base(SWITCHED, "0-7-9").to_bytes()

"""What is kept of the history, and what it gives at every position."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from relay.model.change import Statement
from relay.model.positions.position import BinlogPosition, SourceIdentity
from relay.model.table import Column, ColumnType, Logged, TableId, TableMap
from relay.schema import (
    Base,
    FollowedTables,
    HistoryPosition,
    TableHistory,
    Version,
    folded,
    parse_record,
    superseded,
)
from relay.schema.history import DescribedColumn, DescribedTable

SERVER = SourceIdentity("", 7, 100)
TABLE = TableId("d", "t")
LAST = BinlogPosition("b.000009", 4)


def position(
    offset: int, file: str = "b.000001", created_s: int = 100, server_id: int = 7
) -> HistoryPosition:
    return HistoryPosition.of(SourceIdentity("", server_id, created_s), file, offset)


def table(*names: str) -> DescribedTable:
    return DescribedTable(tuple(DescribedColumn(name, "int") for name in names), charset="utf8mb4")


def names(schemas: FollowedTables) -> str:
    known = schemas.of(TABLE)
    return (
        " ".join(column.name for column in known.columns)
        if isinstance(known, DescribedTable)
        else f"? {known}"
    )


def at(records: "list[Version | Base]", here: HistoryPosition) -> tuple[str, int] | None:
    schemas = FollowedTables(mariadb=True)
    later = folded(records, here, schemas)
    return None if later is None else (names(schemas), len(later))


HISTORY: "list[Version | Base]" = [
    Version(position(300), TABLE, table("a", "b")),
    Base(position(100)),
    Version(position(100), TABLE, table("a"), initial=True),
    Version(position(200, "b.000002", 160), TABLE, "it was altered"),
    Version(position(300, "b.000002", 160), TABLE, table("a", "c")),
    Version(position(100, server_id=8), TABLE, table("other")),
    Version(position(4, "b.000001", 900), TABLE, None),
]


@pytest.mark.parametrize(
    ("here", "columns", "later"),
    [
        (position(100), "a", 4),
        (position(300), "a", 4),
        (position(301), "a b", 3),
        (position(5000), "a b", 3),
        (position(201, "b.000002", 160), "? it was altered", 2),
        (position(999, "b.000002", 160), "a c", 1),
        (position(5, "b.000001", 900), "? None", 0),
    ],
)
def test_each_place_has_what_held_there(here: HistoryPosition, columns: str, later: int) -> None:
    assert at(HISTORY, here) == (columns, later)


def test_places_before_the_base_and_on_other_servers_are_not_covered() -> None:
    assert at(HISTORY, position(99)) is None
    assert at(HISTORY, position(500, server_id=8)) is None


def test_a_second_base_begins_anew() -> None:
    again: list[Version | Base] = [
        *HISTORY,
        Base(position(400)),
        Version(position(400), TABLE, table("z"), initial=True),
    ]
    assert at(again, position(350)) == ("a b", 3)
    assert at(again, position(450)) == ("z", 3)


places = st.builds(
    position,
    st.integers(0, 6),
    st.sampled_from(["b.000001", "b.000002"]),
    st.sampled_from([100, 160]),
    st.sampled_from([7, 8]),
)
knowns = st.sampled_from([table("a"), table("a", "b"), "unknown", None])
tables = st.sampled_from([TABLE, TableId("d", "u"), TableId("e", "t")])
plain_records = st.one_of(
    st.builds(Base, places), st.builds(Version, places, tables, knowns, st.booleans())
)


@given(st.lists(plain_records, max_size=25, unique_by=lambda record: record.key), places, places)
def test_what_is_superseded_changes_nothing_that_can_still_be_asked_for(
    records: "list[Version | Base]", oldest: HistoryPosition, other: HistoryPosition
) -> None:
    gone = superseded(records, oldest)
    rest = [record for record in records if record not in gone]
    assert len(rest) + len(gone) == len(records)
    here = max(oldest, other) if other.server == oldest.server else other
    before, after = FollowedTables(mariadb=True), FollowedTables(mariadb=True)
    assert folded(records, here, before) == folded(rest, here, after)
    assert dict(before.tables) == dict(after.tables)
    assert superseded(rest, oldest) == []


def test_a_table_keeps_its_last_version_before_the_oldest_place_and_one_that_is_gone_none() -> None:
    dropped = TableId("d", "dropped")
    temporary = [Version(position(110), dropped, table("x")), Version(position(120), dropped, None)]
    gone = superseded([*HISTORY, *temporary], position(250, "b.000002", 160))
    assert {each.key for each in gone} == {
        each.key for each in (HISTORY[0], HISTORY[2], *temporary)
    }
    assert superseded(HISTORY, position(99)) == []


def test_records_come_back_as_they_were() -> None:
    column = DescribedColumn(
        "ä", "enum", (3,), None, True, "gbk", ("x", "y'"), visible=False, compressed=True
    )
    for known in (
        DescribedTable((column, DescribedColumn("b", "int")), ("b", "ä"), "latin1"),
        "why",
        None,
    ):
        version = Version(position(4), TABLE, known, initial=known is None)
        assert parse_record(version.key, version.to_bytes()) == version
    for base in (Base(position(4)), Base(position(4), ""), Base(position(4), "0-7-9")):
        assert parse_record(base.key, base.to_bytes()) == base
    assert parse_record(base.key, b'{"format":1}') == Base(position(4)), "of a former version"
    with pytest.raises(ValueError, match="format is 2"):
        parse_record(base.key, b'{"format":2}')


def run(history: TableHistory, offset: int, sql: str) -> bool:
    return history.apply(Statement(sql, "d", 0, BinlogPosition("b.000001", offset)))


def bare(columns: int) -> TableMap:
    made = TableMap(
        TABLE,
        tuple(Column("", ColumnType.LONG, nullable=True) for _ in range(columns)),
        logged=Logged.NOTHING,
    )
    return made.without_names("none")


def test_a_history_completes_maps_follows_statements_and_hands_over_what_it_learned() -> None:
    schemas = FollowedTables(mariadb=True)
    schemas.put(TABLE, table("a"))
    history = TableHistory(schemas, SERVER)
    history.begin(position(50), "0-7-9")
    assert [column.name for column in history.complete(bare(1)).columns] == ["a"]
    assert "2 columns, and the known definition has 1" in history.complete(bare(2)).unknown
    assert run(history, 60, "ALTER TABLE t ADD b INT")
    assert not run(history, 70, "ALTER TABLE t ADD INDEX (b)")
    assert not run(history, 75, "CREATE VIEW v AS SELECT 1")
    assert run(history, 80, "DROP TABLE t")
    assert history.complete(bare(2)).unknown == "nothing is known of it"
    assert [type(each).__name__ for each in history.taken(BinlogPosition("b.000001", 60))] == [
        "Base",
        "Version",
    ]
    (added,) = history.taken(BinlogPosition("b.000001", 80))
    assert isinstance(added, Version)
    assert added.position == position(60)
    assert [each.known for each in history.taken(LAST) if isinstance(each, Version)] == [None]
    assert history.taken(LAST) == []


def test_what_is_known_better_of_a_place_holds_there() -> None:
    schemas = FollowedTables(mariadb=True)
    schemas.put(TABLE, "it was changed, and its earlier definition is unknown")
    history = TableHistory(schemas, SERVER, [Version(position(80), TABLE, table("a", "z"))])
    assert run(history, 60, "ALTER TABLE t DROP zz")
    assert history.complete(bare(2)).unknown
    assert run(history, 80, "ALTER TABLE t ADD z INT")
    assert [column.name for column in history.complete(bare(2)).columns] == ["a", "z"]
    assert [each.known for each in history.taken(LAST) if isinstance(each, Version)][-1] == table(
        "a", "z"
    )

"""When a bare table map and what is known of its table fit, and what they do not let pass."""

from dataclasses import replace

import pytest

from relay.model.table import Column, ColumnType, Logged, TableId, TableMap
from relay.schema.history import DescribedColumn, DescribedTable, completed

T = ColumnType


def fit(column: Column, known: DescribedColumn, logged: Logged = Logged.NOTHING) -> Column | str:
    bare = TableMap(TableId("d", "t"), (column,), logged=logged, unknown="none")
    whole = completed(bare, DescribedTable((known,), (known.name,)))
    if isinstance(whole, str):
        return whole
    assert (whole.unknown, whole.logged, whole.primary_key) == ("", Logged.FULL, (0,))
    return whole.columns[0]


@pytest.mark.parametrize(
    ("column", "known"),
    [
        (Column("", T.LONG, True), DescribedColumn("c", "int", (11,), unsigned=True)),
        (Column("", T.NEWDECIMAL, True, 10, 2), DescribedColumn("c", "decimal", (10, 2))),
        (
            Column("", T.VARCHAR, True, 80),
            DescribedColumn("c", "varchar", (20,), charset="utf8mb4"),
        ),
        (Column("", T.VARCHAR, True, 40), DescribedColumn("c", "varchar", (20,), charset="gbk")),
        (
            Column("", T.VARCHAR_COMPRESSED, True, 401),
            DescribedColumn("c", "varchar", (100,), charset="utf8mb4", compressed=True),
        ),
        (
            Column("", T.VARCHAR_COMPRESSED, True, 101),
            DescribedColumn("c", "varbinary", (100,), charset="binary", compressed=True),
        ),
        (
            Column("", T.BLOB_COMPRESSED, True, 2),
            DescribedColumn("c", "text", charset="utf8mb4", compressed=True),
        ),
        (Column("", T.STRING, True, 16), DescribedColumn("c", "uuid")),
        (Column("", T.BLOB, True, 3), DescribedColumn("c", "mediumtext", charset="utf8mb4")),
        (
            Column("", T.ENUM, True, 1),
            DescribedColumn("c", "enum", labels=("a", "b"), charset="latin1"),
        ),
        (
            Column("", T.SET, True, 8),
            DescribedColumn("c", "set", labels=tuple(map(str, range(40))), charset="latin1"),
        ),
        (Column("", T.DATETIME2, True, 3), DescribedColumn("c", "datetime", (3,))),
        (Column("", T.TIMESTAMP2, False), DescribedColumn("c", "timestamp", nullable=None)),
        (Column("", T.GEOMETRY, True, 4), DescribedColumn("c", "polygon")),
        (Column("", T.STRING, True, 3), DescribedColumn("c", "a kind of the future")),
    ],
)
def test_what_fits_is_named(column: Column, known: DescribedColumn) -> None:
    found = fit(column, known)
    assert isinstance(found, Column), found
    assert (found.name, found.labels) == ("c", known.labels)
    assert found.unsigned == known.unsigned
    assert known.charset is None or found.charset == known.charset


@pytest.mark.parametrize(
    ("column", "known", "why"),
    [
        (
            Column("", T.LONG, True),
            DescribedColumn("c", "bigint"),
            "LONG, and the known definition bigint",
        ),
        (Column("", T.LONG, False), DescribedColumn("c", "int"), "NOT NULL"),
        (
            Column("", T.VARCHAR, True, 77),
            DescribedColumn("c", "varchar", (20,)),
            "character set is not known",
        ),
        (
            Column("", T.NEWDECIMAL, True, 10, 2),
            DescribedColumn("c", "decimal", (10, 3)),
            "10,2 in the table map, and 10,3",
        ),
        (
            Column("", T.VARCHAR, True, 60),
            DescribedColumn("c", "varchar", (20,), charset="utf8mb4"),
            "60,0 in the table map, and 80,0",
        ),
        (
            Column("", T.VARCHAR, True, 81),
            DescribedColumn("c", "varchar", (20,), charset="utf8mb4"),
            "81,0 in the table map, and 80,0",
        ),
        (
            Column("", T.VARCHAR_COMPRESSED, True, 80),
            DescribedColumn("c", "varchar", (20,), charset="utf8mb4"),
            "80,0 in the table map, and 81,0",
        ),
        (
            Column("", T.BLOB, True, 2),
            DescribedColumn("c", "longblob", charset="binary"),
            "2,0 in the table map, and 4,0",
        ),
        (
            Column("", T.TIME2, True, 2),
            DescribedColumn("c", "time"),
            "2,0 in the table map, and 0,0",
        ),
        (
            Column("", T.BIT, True, 9),
            DescribedColumn("c", "bit", (8,)),
            "9,0 in the table map, and 8,0",
        ),
        (
            Column("", T.SET, True, 1),
            DescribedColumn("c", "set", labels=tuple("abcdefghi")),
            "1,0 in the table map, and 2,0",
        ),
    ],
)
def test_what_does_not_fit_is_said(column: Column, known: DescribedColumn, why: str) -> None:
    said = fit(column, known)
    assert isinstance(said, str)
    assert why in said


def test_what_a_map_says_of_signs_and_character_sets_counts() -> None:
    number, known = Column("", T.LONG, True, unsigned=True), DescribedColumn("c", "int")
    assert "unsigned in the table map" in str(fit(number, known, Logged.MINIMAL))
    assert fit(number, replace(known, unsigned=True), Logged.MINIMAL) == replace(number, name="c")
    text, described = (
        Column("", T.VARCHAR, True, 20, charset="latin1"),
        DescribedColumn("c", "varchar", (20,), charset="latin2"),
    )
    assert "latin1 in the table map, and latin2" in str(fit(text, described, Logged.MINIMAL))


def test_another_number_of_columns_does_not_fit() -> None:
    bare = TableMap(TableId("d", "t"), (), unknown="none")
    assert (
        completed(bare, DescribedTable((DescribedColumn("c", "int"),)))
        == "the table map has 0 columns, and the known definition has 1"
    )


def test_a_map_with_hidden_columns_behind_the_known_ones_says_what_helps() -> None:
    columns = Column("", T.LONG, True), Column("", T.LONGLONG, True)
    bare = TableMap(TableId("d", "t"), columns, logged=Logged.NOTHING)
    said = completed(bare, DescribedTable((DescribedColumn("c", "int"),)))
    assert isinstance(said, str)
    assert said.startswith(
        "the table map has 2 columns, and the known definition has 1; if the table has a "
        "functional index on MySQL 8.0.17"
    )
    assert (
        completed(bare, DescribedTable((DescribedColumn("c", "text"),)))
        == "the table map has 2 columns, and the known definition has 1"
    )

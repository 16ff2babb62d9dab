"""Which column ends the versions of a table's rows, from a table map and from what the catalogue
says later.
"""

from dataclasses import replace

import pytest

from relay.model.table import (
    Column,
    ColumnType,
    KeyKind,
    RowVersions,
    TableDefinition,
    TableId,
    TableMap,
)
from relay.schema import CatalogTable, CatalogVersions, TableDefinitions
from relay.schema.system_versions import end_of_versions, may_have_versions, with_versions

TABLE = TableId("d", "t")
ID = Column("id", ColumnType.LONG, False, unsigned=True)


def time(name: str, **changed: object) -> Column:
    return replace(Column(name, ColumnType.TIMESTAMP2, False, length=6), **changed)  # type: ignore[arg-type]


HIDDEN = (ID, time("row_start"), time("row_end"))
OWN = (ID, time("s"), time("e"), Column("n", ColumnType.LONG, True))
IN_KEY = (0, 2)


@pytest.mark.parametrize(
    ("columns", "key", "found", "end"),
    [
        (HIDDEN, IN_KEY, CatalogVersions(("id",), "row_end"), 2),
        (HIDDEN, (), CatalogVersions(("id",), "row_end"), 2),
        (HIDDEN, IN_KEY, CatalogVersions(("id",)), 2),  # versions were dropped since
        (HIDDEN, IN_KEY, None, 2),  # so was the table
        (
            HIDDEN,
            IN_KEY,
            CatalogVersions(("id", "row_start", "row_end")),
            None,
        ),  # columns like all others
        (
            HIDDEN,
            (0,),
            CatalogVersions(("id",), "row_end"),
            None,
        ),  # a key without a time: the table had no versions then
        # The times of a table that has versions again are declared ones.
        (HIDDEN, IN_KEY, CatalogVersions(("id", "b", "e", "n"), "e"), 2),
        (HIDDEN, IN_KEY, CatalogVersions(("e", "id", "b"), "e"), 2),
        (HIDDEN, (0,), CatalogVersions(("id", "b", "e", "n"), "e"), None),
        (HIDDEN, (0,), None, None),
        (HIDDEN, IN_KEY, CatalogVersions(()), None),  # MySQL
        (OWN, IN_KEY, CatalogVersions(("id", "s", "e", "n"), "e"), 2),
        (OWN, IN_KEY, CatalogVersions(("id", "s", "e", "n", "later"), "E"), 2),
        (OWN, IN_KEY, CatalogVersions(("id", "s", "renamed", "n"), "renamed"), 2),
        (OWN, (0, 1), CatalogVersions(("id", "s", "e", "n"), "e"), 2),
        (OWN, (0,), CatalogVersions(("id", "s", "e", "n"), "e"), None),
        (OWN, IN_KEY, CatalogVersions(("id", "s", "e", "n")), None),
        (OWN, IN_KEY, None, None),
        (
            (ID, time("s"), time("e", nullable=True)),
            (),
            CatalogVersions(("id", "s", "e"), "e"),
            None,
        ),
        (
            (ID, Column("s", ColumnType.LONGLONG, False), Column("e", ColumnType.LONGLONG, False)),
            (),
            CatalogVersions((), "e"),
            None,
        ),
    ],
)
def test_the_end_is_known_by_map_and_catalogue(
    columns: tuple[Column, ...],
    key: tuple[int, ...],
    found: CatalogVersions | None,
    end: int | None,
) -> None:
    assert end_of_versions(TableMap(TABLE, columns, key), found) == end


def test_a_followed_history_knows_hidden_columns_without_the_catalogue() -> None:
    hidden = (ID, time("row_start", visible=False), time("row_end", visible=False))
    followed = TableMap(TABLE, hidden, IN_KEY, key_kind=KeyKind.PRIMARY)
    assert end_of_versions(followed, CatalogVersions(("id", "row_start", "row_end"))) == 2


@pytest.mark.parametrize(
    ("full", "current", "history"),
    [
        ((0, 2), (0,), (0, 2)),
        ((2, 0), (0,), (2, 0)),
        ((0, 1), (0, 1), (0, 1, 2)),
        ((), (), ()),
        ((2,), (), ()),
    ],
)
def test_current_rows_have_no_end_in_their_key_and_history_rows_have(
    full: tuple[int, ...], current: tuple[int, ...], history: tuple[int, ...]
) -> None:
    made = with_versions(TableDefinition(TableMap(TABLE, HIDDEN, full), full, ("", "", "")), 2)
    assert (made.key, made.versions) == (current, RowVersions(2, history))


def _text(column: Column) -> str:
    return column.name


class Catalog:
    """A catalogue that shows no hidden column."""

    def __init__(self) -> None:
        self.asked = 0

    def read(self, table: TableId, *, keys: bool) -> CatalogTable | None:
        assert table == TABLE
        return CatalogTable((("id", "int(8) unsigned zerofill"),), (("id",),) if keys else ())

    def versions(self, table: TableId) -> CatalogVersions | None:
        assert table == TABLE
        self.asked += 1
        return CatalogVersions(("id",), "row_end")


def test_the_catalogue_is_asked_about_versions_where_they_can_be() -> None:
    catalog, plain = Catalog(), TableMap(TABLE, (ID, time("at")), (0,))
    assert not may_have_versions(plain)
    assert TableDefinitions(_text, catalog, marks_history=True).define(plain).versions is None
    versioned = TableMap(TABLE, HIDDEN, IN_KEY)
    assert TableDefinitions(_text, catalog).define(versioned).key == IN_KEY
    assert catalog.asked == 0
    found = TableDefinitions(_text, catalog, marks_history=True).define(versioned)
    assert (found.key, found.versions, catalog.asked) == ((0,), RowVersions(2, IN_KEY), 1)
    assert found.type_texts[0] == "int(8) unsigned zerofill"

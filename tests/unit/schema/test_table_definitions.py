"""Keys and texts of table versions."""

import pytest

from relay.model.change import Statement
from relay.model.positions.position import BinlogPosition
from relay.model.table import Column, ColumnType, KeyKind, TableId, TableMap
from relay.schema import CatalogTable, CatalogVersions, DeclaredTypes, TableDefinitions

TABLE = TableId("d", "t")
UNKNOWN = KeyKind.UNKNOWN
COLUMNS = (
    Column("a", ColumnType.LONG, True),
    Column("b", ColumnType.LONG, False),
    Column("c", ColumnType.LONG, False),
)


class RecordedCatalog:
    """Answers with one description, and remembers who asked."""

    def __init__(self, answer: CatalogTable | None) -> None:
        self.answer = answer
        self.asked: list[TableId] = []
        self.asked_for_keys = False
        self.shown: CatalogVersions | None = None

    def read(self, table: TableId, *, keys: bool) -> CatalogTable | None:
        self.asked.append(table)
        self.asked_for_keys = keys
        return self.answer

    def versions(self, table: TableId) -> CatalogVersions | None:
        self.asked.append(table)
        return self.shown


def _catalog(*unique_keys: tuple[str, ...], names: str = "abc") -> RecordedCatalog:
    return RecordedCatalog(CatalogTable(tuple((name, "int") for name in names), unique_keys))


def _text(column: Column) -> str:
    return column.type.name.lower()


def _statement(sql: str) -> Statement:
    return Statement(sql, "d", 0, BinlogPosition("b", 4))


def test_the_primary_key_of_the_map_needs_no_question() -> None:
    catalog = _catalog(("b",))
    definition = TableDefinitions(_text, catalog).define(TableMap(TABLE, COLUMNS, (2, 1)))
    assert (definition.key, definition.type_texts, catalog.asked) == (
        (2, 1),
        ("long", "long", "long"),
        [],
    )


def test_the_first_unique_not_null_key_names_a_row_without_a_primary_key() -> None:
    catalog = _catalog(("a", "b"), ("c", "b"), ("b",))
    definitions = TableDefinitions(_text, catalog)
    assert definitions.define(TableMap(TABLE, COLUMNS, key_kind=UNKNOWN)).key == (2, 1)
    assert definitions.define(TableMap(TABLE, COLUMNS, key_kind=UNKNOWN)).key == (2, 1)
    assert catalog.asked == [TABLE]


def test_a_catalogue_with_other_columns_proves_no_key() -> None:
    for catalog in (
        _catalog(("b",), names="abcd"),
        _catalog(("b",), names="acb"),
        _catalog(),
        RecordedCatalog(None),
    ):
        assert (
            TableDefinitions(_text, catalog).define(TableMap(TABLE, COLUMNS, key_kind=UNKNOWN)).key
            == ()
        )
    assert TableDefinitions(_text).define(TableMap(TABLE, COLUMNS, key_kind=UNKNOWN)).key == ()


def test_ddl_makes_the_next_row_ask_again() -> None:
    catalog = _catalog(("b",))
    definitions = TableDefinitions(_text, catalog)
    definitions.define(TableMap(TABLE, COLUMNS, key_kind=UNKNOWN))
    catalog.answer = CatalogTable(tuple((name, "int") for name in "abc"), (("c",),))
    definitions.apply(_statement("TRUNCATE other"))
    assert definitions.define(TableMap(TABLE, COLUMNS, key_kind=UNKNOWN)).key == (1,)
    assert definitions.apply(_statement("DROP INDEX b ON t")).kind == "DINDEX"
    assert definitions.define(TableMap(TABLE, COLUMNS, key_kind=UNKNOWN)).key == (2,)


def test_declared_texts_come_first_and_follow_the_stream() -> None:
    definitions = TableDefinitions(_text, declared=DeclaredTypes(), as_declared=True)
    table = TableMap(TABLE, COLUMNS, (0,))
    assert definitions.define(table).type_texts == ("long", "long", "long")
    definitions.apply(_statement("CREATE TABLE t (a INTEGER, b INT(3), c INT)"))
    assert definitions.define(table).type_texts == ("INTEGER", "INT(3)", "INT")
    definitions.apply(_statement("ALTER TABLE t MODIFY c INT(9)"))
    assert definitions.define(table).type_texts == ("INTEGER", "INT(3)", "INT(9)")
    definitions.apply(_statement("INSERT INTO t VALUES (1)"))
    assert definitions.define(table).type_texts == ("INTEGER", "INT(3)", "INT(9)")


def test_row_metadata_without_a_key_is_believed() -> None:
    """The server names a unique key without NULL itself: one that the catalogue has now was not
    there when the row was written.
    """
    catalog = _catalog(("b",))
    assert TableDefinitions(_text, catalog).define(TableMap(TABLE, COLUMNS)).key == ()
    assert (
        TableDefinitions(_text, catalog)
        .define(TableMap(TABLE, COLUMNS, key_kind=KeyKind.NOT_PRIMARY))
        .key
        == ()
    )
    assert catalog.asked == []


def test_a_unique_key_that_a_server_keeps_by_a_hash_is_in_no_row_metadata() -> None:
    long = (Column("a", ColumnType.BLOB, False), *COLUMNS[1:])
    assert TableDefinitions(_text, _catalog(("b",), ("a",))).define(TableMap(TABLE, long)).key == (
        0,
    )


@pytest.mark.parametrize(
    ("kind", "named", "primary", "unique", "key"),
    [
        (KeyKind.EITHER, (1,), ("b",), (("b",),), (1,)),
        (KeyKind.EITHER, (1,), (), (("b",),), ()),
        (KeyKind.EITHER, (1,), ("c",), (("c",), ("b",)), (1,)),
        (KeyKind.EITHER, (), (), (("b",),), ()),
        (KeyKind.PRIMARY, (1,), (), (), (1,)),
        (KeyKind.NOT_PRIMARY, (1,), ("b",), (("b",),), ()),
        (KeyKind.UNKNOWN, (), ("c", "b"), (("c", "b"),), (2, 1)),
        (KeyKind.UNKNOWN, (), (), (("b",),), ()),
    ],
)
def test_canal_style_takes_a_primary_key_alone(
    kind: KeyKind,
    named: tuple[int, ...],
    primary: tuple[str, ...],
    unique: tuple[tuple[str, ...], ...],
    key: tuple[int, ...],
) -> None:
    catalog = RecordedCatalog(CatalogTable(tuple((name, "int") for name in "abc"), unique, primary))
    assert (
        TableDefinitions(_text, catalog, as_declared=True)
        .define(TableMap(TABLE, COLUMNS, named, key_kind=kind))
        .key
        == key
    )


def test_a_table_that_is_gone_has_the_key_of_its_map_in_canal_style() -> None:
    assert TableDefinitions(_text, RecordedCatalog(None), as_declared=True).define(
        TableMap(TABLE, COLUMNS, (1,))
    ).key == (1,)

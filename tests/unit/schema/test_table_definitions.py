"""Keys and texts of table versions."""

from relay.model.change import Statement
from relay.model.position import BinlogPosition
from relay.model.table import Column, ColumnType, TableId, TableMap
from relay.schema import CatalogTable, DeclaredTypes, TableDefinitions

TABLE = TableId("d", "t")
COLUMNS = (Column("a", ColumnType.LONG, True), Column("b", ColumnType.LONG, False), Column("c", ColumnType.LONG, False))


class RecordedCatalog:
    """Answers with one description, and remembers who asked."""

    def __init__(self, answer: CatalogTable | None) -> None:
        self.answer = answer
        self.asked: list[TableId] = []
        self.asked_for_keys = False

    def read(self, table: TableId, *, keys: bool) -> CatalogTable | None:
        self.asked.append(table)
        self.asked_for_keys = keys
        return self.answer


def _catalog(*unique_keys: tuple[str, ...], names: str = "abc") -> RecordedCatalog:
    return RecordedCatalog(CatalogTable(tuple((name, "int") for name in names), unique_keys))


def _text(column: Column) -> str:
    return column.type.name.lower()


def _statement(sql: str) -> Statement:
    return Statement(sql, "d", 0, BinlogPosition("b", 4))


def test_the_primary_key_of_the_map_needs_no_question() -> None:
    catalog = _catalog(("b",))
    definition = TableDefinitions(_text, catalog).define(TableMap(TABLE, COLUMNS, (2, 1)))
    assert (definition.key, definition.type_texts, catalog.asked) == ((2, 1), ("long", "long", "long"), [])


def test_the_first_unique_not_null_key_names_a_row_without_a_primary_key() -> None:
    catalog = _catalog(("a", "b"), ("c", "b"), ("b",))
    definitions = TableDefinitions(_text, catalog)
    assert definitions.define(TableMap(TABLE, COLUMNS)).key == (2, 1)
    assert definitions.define(TableMap(TABLE, COLUMNS)).key == (2, 1)
    assert catalog.asked == [TABLE]


def test_a_catalogue_with_other_columns_proves_no_key() -> None:
    for catalog in (_catalog(("b",), names="abcd"), _catalog(("b",), names="acb"), _catalog(), RecordedCatalog(None)):
        assert TableDefinitions(_text, catalog).define(TableMap(TABLE, COLUMNS)).key == ()
    assert TableDefinitions(_text).define(TableMap(TABLE, COLUMNS)).key == ()


def test_ddl_makes_the_next_row_ask_again() -> None:
    catalog = _catalog(("b",))
    definitions = TableDefinitions(_text, catalog)
    definitions.define(TableMap(TABLE, COLUMNS))
    catalog.answer = CatalogTable(tuple((name, "int") for name in "abc"), (("c",),))
    definitions.apply(_statement("TRUNCATE other"))
    assert definitions.define(TableMap(TABLE, COLUMNS)).key == (1,)
    assert definitions.apply(_statement("DROP INDEX b ON t")).kind == "DINDEX"
    assert definitions.define(TableMap(TABLE, COLUMNS)).key == (2,)


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

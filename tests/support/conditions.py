"""A table with a column of each family, a row of it, and the results of conditions for the row."""

from typing import Final

from relay.encode import exact_text
from relay.model.table import Column, ColumnType, TableDefinition, TableId, TableMap
from relay.model.value import Row
from relay.refine.bound_condition import ConditionBinder, Holds
from relay.refine.condition_parser import parse_condition

REAL = TableId("shop_1", "customer")
COLUMNS = (
    Column("id", ColumnType.LONG, nullable=False),
    Column("email", ColumnType.VARCHAR, nullable=True, length=400, charset="utf8mb4"),
    Column("name", ColumnType.VARCHAR, nullable=True, length=100, charset="latin1"),
    Column("price", ColumnType.NEWDECIMAL, nullable=True, length=10, scale=2),
    Column("ratio", ColumnType.DOUBLE, nullable=True, length=8),
    Column("made", ColumnType.DATETIME2, nullable=True, length=3),
    Column("lasts", ColumnType.TIME2, nullable=True),
    Column("state", ColumnType.ENUM, nullable=True, length=1, labels=("draft", "sold")),
    Column("raw", ColumnType.VARCHAR, nullable=True, length=10, charset="binary"),
    Column("flags", ColumnType.SET, nullable=True, length=1, labels=("a", "b")),
    Column("doc", ColumnType.JSON, nullable=True, length=4),
)
NAMES = tuple(column.name for column in COLUMNS)
TYPES = (
    *("int", "varchar(100)", "varchar(100)", "decimal(10,2)", "double", "datetime(3)", "time"),
    *("enum('draft','sold')", "varbinary(10)", "set('a','b')", "json"),
)
DEFINITION = TableDefinition(TableMap(REAL, COLUMNS, (0,)), (0,), TYPES)
TEXTS = [
    exact_text(column, text, lambda: None) for column, text in zip(COLUMNS, TYPES, strict=True)
]


def row(**values: object) -> Row:
    """A row with these values, number 1, and NULL elsewhere."""
    known = {"id": 1, **values}
    return tuple(known.get(name) for name in NAMES)  # type: ignore[misc]  # the tests know what each column holds


def bound(text: str) -> Holds:
    """Return a condition bound to the table."""
    return ConditionBinder(DEFINITION, TEXTS).bind(parse_condition(text))


CUSTOMER = row(
    id=7,
    email=b"Ann@example.org",
    name="M\u00fcller".encode("latin-1"),
    price="12.50",
    ratio=0.1,
    made="2026-01-31 23:59:59.500",
    lasts="-01:30:00",
    state=2,
    raw=b"\xff",
    flags=3,
)

ANSWERS: Final[list[tuple[str, bool | None]]] = [
    ("id = 7", True),
    ("id <> 7", False),
    ("id != 7", False),
    ("ID >= 7 AND `id` <= 7", True),
    ("7 < id", False),
    ("id = -7", False),
    ("id > -7", True),
    ("id = +7", True),
    ("id = TRUE", False),
    ("id between 1 and 7", True),
    ("id not between 1 and 7", False),
    ("id in (1, 7)", True),
    ("id not in (1, 2)", True),
    ("id in (1, null)", None),
    ("id not in (1, null)", None),
    ("id in (7, null)", True),
    ("doc is null", True),
    ("doc is not null", False),
    ("raw is not null", True),
    ("id = null", None),
    ("null = null", None),
    ("not id = null", None),
    ("doc is null or id = null", True),
    ("doc is not null and id = null", False),
    ("doc is null and id = null", None),
    ("not id = 8 and id = 7", True),
    ("not (id = 8 or id = 7)", False),
    ("id = 8 or id = 7 and price > 12", True),
    ("(id = 8 or id = 7) and price > 13", False),
    ("price = 12.5", True),
    ("price = 12.50", True),
    ("price > 12.49 and price < 12.51", True),
    ("price = 125e-1", True),
    ("ratio = 0.1", True),
    ("ratio < price", True),
    ("email = 'Ann@example.org'", True),
    ("email = 'ann@example.org'", False),
    ("name = 'Müller'", True),
    ("name like 'M_ller'", True),
    ("email like '%@example.%'", True),
    ("email not like '%@example.%'", False),
    ("doc is null and email like 'A%'", True),
    ("state = 'sold'", True),
    ("state in ('draft', 'sold')", True),
    ("flags = 'a,b'", True),
    ("made = '2026-01-31 23:59:59.5'", True),
    ("made >= '2026-01-31'", True),
    ("made < '2026-02-01'", True),
    ("lasts < '-01:00:00'", True),
    ("lasts > '-100:00:00.000001'", True),
    ("email = 'it''s'", False),
]
"""A condition, and whether it is true for the customer; a server returns the same."""

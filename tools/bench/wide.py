"""The wide workload: sixty columns of many types, one of them JSON and one a text of 2 KB."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from deploy.embedded import SqlServer
from tools.bench.measuring.workload import SCHEMA

_STATEMENT_ROWS: Final = 100
_UPDATED_SHARE: Final = 4
_TEXT_CHARACTERS: Final = 2048
_WORDS: Final = "the quick brown fox jumps over the lazy dog 敏捷的狐狸 "
_KINDS: Final = (
    ("whole", "INT", "{i}"),
    ("large", "BIGINT UNSIGNED", "{i}000000007"),
    ("amount", "DECIMAL(18,4)", "{i}.1250"),
    ("ratio", "DOUBLE", "{i}.25"),
    ("moment", "DATETIME(6)", "'2026-01-01 10:00:00.{micro:06d}'"),
    ("day", "DATE", "'2026-01-{day:02d}'"),
    ("label", "VARCHAR(60)", "'label {i} of many'"),
    ("choice", "ENUM('new','paid','sent','done')", "{choice}"),
    ("bytes", "VARBINARY(32)", "x'{i:016x}'"),
    ("stamp", "TIMESTAMP(3) NULL", "'2026-02-02 11:00:00.{milli:03d}'"),
    ("switch", "TINYINT", "{choice}"),
    ("missing", "INT NULL", "NULL"),
)
_COLUMNS: Final = 57  # besides the key, the JSON document and the text


@dataclass(frozen=True, slots=True)
class Wide:
    """The workload: `rows` are inserted, and a fourth of them is updated."""

    rows: int
    name: str = "wide"
    tables: tuple[str, ...] = ("wide",)

    def __post_init__(self) -> None:
        if self.rows % (_UPDATED_SHARE * _STATEMENT_ROWS):
            raise ValueError(f"rows must be a multiple of {_UPDATED_SHARE * _STATEMENT_ROWS}")

    @property
    def changes(self) -> int:
        """Return the number of row changes that `write` makes."""
        return self.rows + self.rows // _UPDATED_SHARE

    def create(self, database: SqlServer) -> None:
        """Create the table with all its columns."""
        columns = ", ".join(f"{name} {kind}" for name, kind, _ in _columns())
        database.execute(
            f"CREATE TABLE {SCHEMA}.wide (id BIGINT PRIMARY KEY, {columns}, document JSON, story "
            f"TEXT)"
        )

    def write(self, database: SqlServer) -> int:
        """Insert the rows, then update each in the first quarter; return the row changes."""
        changes = 0
        with database.connect(database=SCHEMA) as connection, connection.cursor() as cursor:
            for first in range(0, self.rows, _STATEMENT_ROWS):
                rows = ",".join(map(_row, range(first, first + _STATEMENT_ROWS)))
                changes += cursor.execute(f"INSERT INTO wide VALUES {rows}")
            for first in range(0, self.rows // _UPDATED_SHARE, _STATEMENT_ROWS):
                last = first + _STATEMENT_ROWS - 1
                changes += cursor.execute(
                    f"UPDATE wide SET whole_0 = whole_0 + 1 WHERE id BETWEEN {first} AND {last}"
                )
        return changes


def _columns() -> Iterator[tuple[str, str, str]]:
    for number in range(_COLUMNS):
        name, kind, pattern = _KINDS[number % len(_KINDS)]
        yield f"{name}_{number // len(_KINDS)}", kind, pattern


def _row(i: int) -> str:
    """Return the values of a row as SQL. They have no quotes and backslashes, so nothing is
    escaped.
    """
    parts = {
        "i": i,
        "micro": i % 1_000_000,
        "milli": i % 1000,
        "day": i % 28 + 1,
        "choice": i % 4 + 1,
    }
    values = ",".join(pattern.format(**parts) for _, _, pattern in _columns())
    document = f'{{"id": {i}, "tags": ["a", "b", "c{i % 7}"], "size": {{"w": {i % 90}, "h": 4.5}}, "open": true, "note": null}}'  # noqa: E501
    story = (f"{i} " + _WORDS * (_TEXT_CHARACTERS // len(_WORDS) + 1))[:_TEXT_CHARACTERS]
    return f"({i},{values},'{document}','{story}')"

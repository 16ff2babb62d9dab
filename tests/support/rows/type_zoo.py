"""Replays `tests/golden/type_zoo.sql`: numbered statements over every column type and shape of
change.

Statement n runs at server time 1767225600 + n, so the time in an event's header names the statement
that caused it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson
import pymysql

GOLDEN: Final = Path(__file__).parents[1].parent / "golden"
FIRST_SECOND: Final = 1_767_225_600
SCHEMAS: Final = ("zoo_types", "zoo_dml", "zoo_ddl", "zoo_tmp", "zoo_tmp2", "zoo_end", "zoo_risky")
_HEAD: Final = re.compile(
    r"-- @stmt (?P<number>\d+) (?P<family>both|mariadb|mysql)(?P<fails> error)?(?: #.*)?"
)


@dataclass(frozen=True, slots=True)
class ZooStatement:
    """One statement; `fails`: the server must refuse it."""

    number: int
    sql: str
    fails: bool


@dataclass(frozen=True, slots=True)
class TableTruth:
    """The rows of a table after a statement; each cell is text as the server prints it."""

    number: int
    database: str
    table: str
    columns: dict[str, dict[str, Any]]
    rows: list[dict[str, dict[str, str | None] | None]]


def statements(family: str) -> Iterator[ZooStatement]:
    """Yield the statements meant for `family` ("mariadb" or "mysql")."""
    head: re.Match[str] | None = None
    lines: list[str] = []
    text = (GOLDEN / "type_zoo.sql").read_text(encoding="utf-8")
    for line in [*text.split("\n"), "-- ====="]:
        following = _HEAD.fullmatch(line)
        if following is None and not line.startswith("-- ====="):
            lines.append(line)
            continue
        if head is not None and head["family"] in ("both", family):
            yield ZooStatement(
                int(head["number"]), "\n".join(lines).strip("\n"), head["fails"] is not None
            )
        head, lines = following, []


def truths(family: str) -> Iterator[TableTruth]:
    """Yield the expected rows of the zoo's tables, in the order of the statements."""
    for line in (GOLDEN / f"truth.{family}.jsonl").read_bytes().splitlines():
        record = orjson.loads(line)
        yield TableTruth(
            record["stmt"], record["database"], record["table"], record["columns"], record["rows"]
        )


def replay(connection: "pymysql.connections.Connection[Any]", family: str) -> None:
    """Run the whole zoo on `connection` (autocommit, utf8mb4).

    Every outcome must be the expected one.
    """
    with connection.cursor() as cursor:
        for schema in SCHEMAS:
            cursor.execute(f"DROP DATABASE IF EXISTS {schema}")
        for statement in statements(family):
            cursor.execute(f"SET timestamp = {FIRST_SECOND + statement.number}")
            try:
                cursor.execute(statement.sql)
            except pymysql.err.Error as refusal:
                if not statement.fails:
                    raise AssertionError(
                        f"statement {statement.number} was refused: {refusal}"
                    ) from refusal
            else:
                assert not statement.fails, f"statement {statement.number} was not refused"
        cursor.execute("SET timestamp = DEFAULT")

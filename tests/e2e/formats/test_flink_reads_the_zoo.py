"""Flink SQL reads every change of the type zoo from topics of several tables; its tables are then
those of the server.
"""

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import Final

import pytest

from tests.e2e.formats.zoo_topics import Texts, Zoo
from tests.support.flink.flink_sql import folded, run

FORMATS: Final = {"canal": "canal-json", "debezium": "debezium-json"}
TABLE_NAME: Final = {"canal": "value.table", "debezium": "value.source.table"}


def statements(zoo: Zoo, form: str, table: str, columns: Iterable[str]) -> list[str]:
    """Make a table whose columns are all texts, and select the rows of one source table."""
    kind = FORMATS[form]
    declared = ", ".join(f"{_quoted(each)} STRING" for each in columns)
    whence = f"`table of the message` STRING METADATA FROM '{TABLE_NAME[form]}' VIRTUAL"
    options = {
        "connector": "kafka",
        "topic": zoo.topics[form],
        "properties.bootstrap.servers": zoo.bootstrap,
        "properties.isolation.level": "read_committed",
        "scan.startup.mode": "earliest-offset",
        "scan.bounded.mode": "latest-offset",
        "format": kind,
    }
    given = ", ".join(f"'{name}' = '{each}'" for name, each in options.items())
    name = _quoted(f"{form} {table}")
    selected = ", ".join(map(_quoted, columns))
    return [
        f"CREATE TABLE {name} ({declared}, {whence}) WITH ({given})",
        f"SELECT {selected} FROM {name} WHERE `table of the message` = '{table}'",
    ]


def normal(text: str | None) -> str | None:
    """A number without what formats print differently; other texts as they are."""
    try:
        return None if text is None else str(Decimal(text).normalize() + 0)
    except InvalidOperation:
        return text


def frozen(rows: Iterable[Texts]) -> Counter[tuple[str | None, ...]]:
    return Counter(tuple(normal(each) for each in row.values()) for row in rows)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_every_table_is_that_of_the_server(zoo: Zoo) -> None:
    asked = [(form, table) for form in FORMATS for table, rows in zoo.tables.items() if rows]
    made = [
        each for form, table in asked for each in statements(zoo, form, table, zoo.tables[table][0])
    ]
    changes = run(made, seconds=400)
    for number, (form, table) in enumerate(asked):
        found = Counter(
            {
                tuple(normal(None if cell is None else cell.decode()) for cell in cells): count
                for cells, count in folded(changes, number).items()
            }
        )
        wanted = frozen(zoo.tables[table])
        assert found == wanted, (form, table, wanted - found, found - wanted)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"

"""Every line of docs/types.md on every server: the relay prints what the page says, and what the
server itself prints.
"""

from collections.abc import Callable

from deploy.embedded import SqlServer
from tests.support.rows.types_page import type_lines
from tests.types.lines import inserted


def test_each_line_is_what_the_relay_prints(
    database: SqlServer, fresh_name: Callable[[str], str]
) -> None:
    name = fresh_name("types")
    lines = type_lines(database.family)
    try:
        found = list(inserted(database, name, lines))
    finally:
        database.execute(f"DROP DATABASE IF EXISTS {name}")
    assert len(found) == len(lines) > 120
    wrong = [
        (line.declared, line.stored, truth, row.exact[column], row.canal[column])
        for line, truth, row, column in found
        if not truth == row.exact[column] == line.exact or row.canal[column] != line.canal
    ]
    assert wrong == []

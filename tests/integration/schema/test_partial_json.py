"""Documents that MySQL updates in part: the relay publishes what the server then has, whatever the
event holds.
"""

from collections.abc import Callable

import pytest

from deploy.embedded import MySQL
from relay.model.change import Operation
from tests.support.sources.source_reading import ask, end_of
from tests.types.server_texts import server_rows
from tests.types.walked import Texts, printed_rows

_DOCUMENT = (
    """'{"a": 1, "b": [1, "zwei", {"c": null}], "bb": {"x": 1.5, "y z": [], "ü": true}, "filler": "%s"}'"""  # noqa: E501
    % ("x" * 400)
)
_UPDATES = (
    "JSON_SET(j, '$.a', 99)",
    "JSON_REPLACE(j, '$.b[1]', 'two')",
    "JSON_SET(j, '$.b[9]', 'behind')",
    "JSON_REMOVE(j, '$.b[0]')",
    "JSON_SET(j, '$.new', 'n', '$.a', 'another type', '$.ab', JSON_ARRAY(1, 2))",
    "JSON_SET(j, '$.bb.\"y z\"', CAST('2024-01-02' AS DATE), '$.bb.\"q\\\\\"uote\"', 1.10)",
    "JSON_REMOVE(j, '$.bb.\"ü\"', '$.b[1].c')",
    "JSON_SET(JSON_REMOVE(j, '$.new'), '$.new', CAST(18446744073709551615 AS UNSIGNED))",
    "JSON_SET(j, '$', JSON_OBJECT('small', 1))",
    f"CAST({_DOCUMENT} AS JSON)",
    "JSON_REPLACE(j, '$.missing', 1, '$.a', 2)",
    "NULL",
    f"CAST({_DOCUMENT} AS JSON)",
    "JSON_SET(j, '$.filler', '', '$.a[0]', 3)",
)


@pytest.mark.parametrize("image", ["FULL", "NOBLOB", "MINIMAL"])
def test_updates_in_part_add_up_to_the_document(
    image: str, mysql_9: MySQL, fresh_name: Callable[[str], str]
) -> None:
    name = fresh_name("partial")
    start = end_of(mysql_9)
    held: list[Texts] = []
    with mysql_9.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
        cursor.execute(f"CREATE TABLE {name}.t (id INT PRIMARY KEY, n INT, j JSON, k JSON)")
        cursor.execute(f"SET binlog_row_value_options = PARTIAL_JSON, binlog_row_image = {image}")
        cursor.execute(f"INSERT INTO {name}.t VALUES (1, 0, {_DOCUMENT}, {_DOCUMENT})")
        for number, expression in enumerate(_UPDATES):
            cursor.execute(
                f"UPDATE {name}.t SET j = {expression}, k = JSON_SET(k, '$.a', {number}) WHERE "
                f"id = 1"
            )
            held += server_rows(connection, name, "t")
    kinds = {
        str(row[2])
        for row in ask(mysql_9, f"SHOW BINLOG EVENTS IN '{start.file}' FROM {start.offset}")
    }
    rows = [
        row
        for row in printed_rows(mysql_9, start, end_of(mysql_9), row_image="partial")
        if row.operation is Operation.UPDATE
    ]
    mysql_9.execute(f"DROP DATABASE {name}")
    assert "Update_rows_partial" in kinds
    assert len(rows) == len(held) == len(_UPDATES)
    for row, after, expression in zip(rows, held, _UPDATES, strict=True):
        assert row.exact.items() <= after.items(), expression
        if image == "FULL":
            assert row.exact == after, expression
        else:
            assert row.exact["id"] == "1"
            assert ("unknown" in row.headers) == (
                row.exact.keys() != after.keys() or set(row.old) != {"j", "k"}
            )

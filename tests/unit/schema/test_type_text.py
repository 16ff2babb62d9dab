"""Type texts from the table map are those that the server writes, as far as the table map goes."""

import json
import re

import pytest

from relay.model.table import Column, ColumnType
from relay.schema.type_text import type_text
from tests.unit.encode.canal_tables import GOLDEN
from tests.unit.encode.server_tables import column_of

# What a table map does not hold, and so cannot come back: display widths, zero-filling, the
# decimals of FLOAT and DOUBLE.
_WIDTH = re.compile(r"^((?:tiny|small|medium|big)?int|year|float|double)\([\d,]+\)")


def test_types_of_the_server() -> None:
    seen = set()
    with (GOLDEN / "truth.mysql.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            for name, facts in json.loads(line)["columns"].items():
                expected = (
                    _WIDTH.sub(r"\1", facts["type"])
                    .replace(" zerofill", "")
                    .replace("timestamp(0)", "timestamp")
                )
                assert type_text(column_of(name, facts)) == expected
                seen.add(expected)
    assert len(seen) > 80


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (Column("c", ColumnType.VECTOR, nullable=True, length=4), "vector"),
        (Column("c", ColumnType.ENUM, nullable=True, labels=("a'b",)), "enum('a''b')"),
        (
            Column("c", ColumnType.VARCHAR_COMPRESSED, nullable=True, length=101, charset="latin1"),
            "varchar(100)",
        ),
        (
            Column(
                "c", ColumnType.VARCHAR_COMPRESSED, nullable=True, length=401, charset="utf8mb4"
            ),
            "varchar(100)",
        ),
        (
            Column("c", ColumnType.VARCHAR_COMPRESSED, nullable=True, length=101, charset="binary"),
            "varbinary(100)",
        ),
        (Column("c", ColumnType.LONG_BLOB, nullable=True, charset="latin1"), "longtext"),
        (Column("c", ColumnType.GEOMETRY, nullable=True, geometry_type=99), "geometry"),
    ],
)
def test_others(column: Column, text: str) -> None:
    assert type_text(column) == text

"""Values that a function returns for a column are those that the column can hold."""

from decimal import Decimal

import pytest

from relay.encode import exact_text
from relay.model.table import Column, ColumnType
from relay.refine import Plain
from relay.refine.plain_values import plain_column
from relay.schema.type_text import type_text

_T = ColumnType


@pytest.mark.parametrize(
    ("column", "held", "refused"),
    [
        (Column("c", _T.TINY, True), (-128, 127), (-129, 128)),
        (Column("c", _T.TINY, True, unsigned=True), (0, 255), (-1, 256)),
        (Column("c", _T.INT24, True, unsigned=True), (2**24 - 1,), (2**24,)),
        (Column("c", _T.LONGLONG, True), (-(2**63), 2**63 - 1), (2**63,)),
        (Column("c", _T.LONGLONG, True, unsigned=True), (2**64 - 1,), (-1, 2**64)),
        (Column("c", _T.YEAR, True), (0, 1901, 2155), (-1, 1, 1900, 2156)),
        (Column("c", _T.BIT, True, length=64), (0, 2**64 - 1), (-1, 2**64)),
        (Column("c", _T.BIT, True, length=3), (7,), (8,)),
        (Column("c", _T.FLOAT, True, length=4), (0.5, -0.0), (1e39, float("inf"))),
        (Column("c", _T.FLOAT, True, length=4, unsigned=True), (0.5,), (-0.5,)),
        (
            Column("c", _T.NEWDECIMAL, True, length=3, scale=3, unsigned=True),
            (Decimal("0.999"),),
            (Decimal("1"), Decimal("-0.001")),
        ),
        (
            Column("c", _T.DATE, True),
            ("0000-00-00", "9999-12-31"),
            ("2027-01-01 00:00:00", "2027-1-1", "2027-01-32"),
        ),
        (
            Column("c", _T.DATETIME2, True, length=6),
            ("0000-00-00 00:00:00", "2027-01-01 23:59:59.999999"),
            ("2027-01-01", "2027-01-01 24:00:00"),
        ),
        (
            Column("c", _T.TIME2, True, length=1),
            ("-838:59:59.0", "00:00:00", "123:00:00"),
            ("838:60:00", "1:00:00", "00:00:00.01"),
        ),
        (Column("c", _T.VARCHAR, True, length=8, charset="ascii"), ("abc",), ("ü",)),
        (Column("c", _T.VARCHAR, True, length=9, charset="utf8mb3"), ("üßЖ",), ("😀",)),
        (Column("c", _T.BLOB, True, length=1, charset="binary"), (b"x" * 255,), (b"x" * 256,)),
        (Column("c", _T.ENUM, True, length=1, labels=("a", "")), ("a", ""), ("b",)),
    ],
)
def test_a_column_takes_only_values_that_it_can_hold(
    column: Column, held: tuple[Plain, ...], refused: tuple[Plain, ...]
) -> None:
    """A format with types would write another value as one of the column, or corrupt the row."""
    text = exact_text(column, type_text(column), lambda: None)
    plain = plain_column(column, text)
    assert [plain.out(plain.back(each)) for each in held] == [*held]
    for each in refused:
        with pytest.raises((ValueError, OverflowError)):
            plain.back(each)

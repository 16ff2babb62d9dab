"""The sentence about the rows between two positions."""

import pytest

from relay.operations.positions.rows_between import RowsBetween

PART = "The binlog between them could not be read to its end within 3 s."
MANY = {f"shop.t{number}": 1 for number in range(10)}


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (RowsBetween({}, is_whole=True), "No row of a mapped table is between the two positions."),
        (
            RowsBetween({}, is_whole=False),
            f"No row of a mapped table was found so far. {PART}",
        ),
        (
            RowsBetween({"a.b": 1}, is_whole=True),
            "Between them: 1 row of 1 logical table: a.b (1).",
        ),
        (
            RowsBetween({"a.b": 2_000, "a.c": 1}, is_whole=False),
            f"Between them: at least 2,001 rows of 2 logical tables: a.b (2,000), a.c (1). {PART}",
        ),
    ],
)
def test_a_sentence_names_rows_and_tables(found: RowsBetween, sentence: str) -> None:
    assert found.sentence == sentence


def test_eight_tables_are_named() -> None:
    told = RowsBetween(MANY, is_whole=True).sentence
    assert told.endswith("shop.t7 (1) and 2 more.")

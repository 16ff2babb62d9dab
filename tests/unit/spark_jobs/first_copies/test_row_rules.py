"""A row from a SELECT becomes the same values that the relay publishes for the row."""

import json
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from relay.encode import KeyEncoder, exact_text, whole_text
from relay.errors import RuleRefused
from relay.model.change import Operation, RowChange
from relay.model.table import Column, ColumnType, TableDefinition, TableId, TableMap
from relay.model.value import Row
from relay.refine import NotPublished, Refinements
from spark_jobs.config.copy import RowSettings
from spark_jobs.origin import SourceColumn
from spark_jobs.origin.row_rules import RowRules

REAL, LOGICAL = TableId("shop_1", "customer"), TableId("shop", "customer")
COLUMNS = {
    "id": (Column("id", ColumnType.LONG, nullable=False), "int(8) unsigned zerofill"),
    "email": (
        Column("email", ColumnType.VARCHAR, nullable=True, length=400, charset="utf8mb4"),
        "varchar(100)",
    ),
    "name": (
        Column("name", ColumnType.STRING, nullable=True, length=100, charset="latin1"),
        "char(100)",
    ),
    "price": (
        Column("price", ColumnType.NEWDECIMAL, nullable=True, length=10, scale=2),
        "decimal(10,2)",
    ),
    "ratio": (Column("ratio", ColumnType.FLOAT, nullable=True, length=4), "float"),
    "wide": (Column("wide", ColumnType.DOUBLE, nullable=True, length=8), "double"),
    "made": (Column("made", ColumnType.DATETIME2, nullable=True, length=3), "datetime(3)"),
    "lasts": (Column("lasts", ColumnType.TIME2, nullable=True), "time"),
    "state": (
        Column("state", ColumnType.ENUM, nullable=True, length=1, labels=("draft", "sold")),
        "enum('draft','sold')",
    ),
    "raw": (
        Column("raw", ColumnType.VARCHAR, nullable=True, length=10, charset="binary"),
        "varbinary(10)",
    ),
    "flags": (
        Column("flags", ColumnType.SET, nullable=True, length=1, labels=("a", "b")),
        "set('a','b')",
    ),
    "bits": (Column("bits", ColumnType.BIT, nullable=True, length=4), "bit(4)"),
    "note": (Column("note", ColumnType.BLOB, nullable=True, length=2, charset="utf8mb4"), "text"),
}
TYPES = tuple(text for _, text in COLUMNS.values())
DEFINITION = TableDefinition(
    TableMap(REAL, tuple(column for column, _ in COLUMNS.values()), (0,)), (0,), TYPES
)
SOURCE = tuple(
    SourceColumn(name, text.partition("(")[0], text) for name, (_, text) in COLUMNS.items()
)
SALT = "a salt that nobody would guess"

SINGLES = st.floats(-100, 100, width=32) | st.sampled_from([16777216.0, 16777218.0])
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "id": st.integers(0, 50),
    "email": st.sampled_from(["", "ann@example.org", "é€😀"]).map(str.encode),
    "name": st.sampled_from([b"", b"M\xfcller", b"mueller"]),
    "price": st.sampled_from(["-1.00", "0.00", "12.50"]),
    "ratio": SINGLES | st.just(1.100000023841858),
    "wide": st.floats(-2, 2),
    "made": st.sampled_from(["0000-00-00 00:00:00.000", "2026-01-31 23:59:59.500"]),
    "lasts": st.sampled_from(["-01:30:00", "838:59:59"]),
    "state": st.integers(0, 2),
    "raw": st.binary(max_size=4),
    "flags": st.integers(0, 3),
    "bits": st.integers(0, 15),
    "note": st.sampled_from(["", 'long\n"text"']).map(str.encode),
}
ROWS = st.tuples(*(each if name == "id" else st.none() | each for name, each in VALUES.items()))
CONDITIONS = st.sampled_from([
    "", "id > 7", "ratio = 16777218",
    "email like '%@example.org'", "name = 'Müller'", "price >= 0.5", "ratio > 1.1",
    "ratio = 1.1", "wide < 0.1",
    "made < '2026-01-01'", (
        "lasts between '-02:00:00' and '00:00:00'"
    ), "state <> 'draft'", "raw is null", "flags = 'a,b'", "bits = 3",
    "ratio < wide or note is not null",
])  # fmt: skip
MASKS = st.lists(
    st.builds(
        lambda names: {"columns": f".*\\.customer\\.({names})", "method": "hash", "salt": SALT},
        st.sampled_from(["id", "raw|ratio", ".*"]),
    )
    | st.just({"columns": ".*\\.(email|name|note)", "method": "truncate", "length": 2})
    | st.just({"columns": ".*\\.(price|state)", "method": "replace"})
    | st.just({"columns": ".*\\.made", "method": "replace", "value": "***"}),
    max_size=3,
)
FIELDS = st.sampled_from(
    [{}, {"fields": ["email", "ratio"]}, {"without_fields": ["note", "id", "raw"]}]
)


def rules(*, key: Sequence[str] = ("id",), lossless: bool = True, **asked: Any) -> RowRules:
    settings = RowSettings.model_validate(asked)
    return RowRules(settings, REAL, LOGICAL, SOURCE, tuple(key), lossless_keys=lossless)


def selected(row: Row) -> Sequence[str | None]:
    """Return a SELECT's result: the texts of all columns, then the full values of FLOAT columns."""
    printers = [exact_text(column, text, lambda: None) for column, text in COLUMNS.values()]
    texts = [
        None if value is None else printer(value)
        for printer, value in zip(printers, row, strict=True)
    ]
    single = row[list(COLUMNS).index("ratio")]
    return [*texts, None if single is None else repr(single)]


def as_the_relay_says(asked: RowSettings, row: Row) -> list[str | None] | None:
    """Return the texts of the row's INSERT message as the relay prints it."""
    refinement = Refinements(asked, {}).of(DEFINITION, LOGICAL, exact_text)
    if refinement is None:
        return list(selected(row)[:-1])
    made = refinement.changes(RowChange(None, row))
    if isinstance(made, NotPublished):
        return None
    published = refinement.published
    printers = [
        exact_text(column, text, lambda: None)
        for column, text in zip(published.map.columns, published.type_texts, strict=True)
    ]
    shown = refinement.shown(made[0]).after
    assert shown is not None
    return [
        None if value is None else printer(value)
        for printer, value in zip(printers, shown, strict=True)
    ]


@given(ROWS, CONDITIONS, MASKS, FIELDS)
def test_a_row_of_texts_becomes_what_the_decoded_row_becomes(
    row: Row, where: str, masks: list[dict[str, Any]], fields: dict[str, Any]
) -> None:
    ruled = rules(rules=[{"tables": ".*", "where": where, **fields}], masks=masks)
    assert ruled.of_row(selected(row)) == as_the_relay_says(ruled.asked, row)


@given(ROWS, MASKS, st.booleans())
def test_a_float_in_a_key_is_what_the_relay_makes_of_it(
    row: Row, masks: list[dict[str, Any]], lossless: bool
) -> None:
    ordinal = list(COLUMNS).index("ratio")
    assume(row[ordinal] is not None)
    ruled = rules(
        key=("ratio", "id"),
        lossless=lossless,
        rules=[{"tables": ".*", "where": "id >= 0", "without_fields": ["wide", "email"]}],
        masks=masks,
    )
    definition = replace(
        DEFINITION, map=replace(DEFINITION.map, primary_key=(ordinal, 0)), key=(ordinal, 0)
    )
    refined = Refinements(ruled.asked, {}).of(
        definition, LOGICAL, exact_text, whole_text if lossless else exact_text
    )
    assert refined is not None
    keys = KeyEncoder(refined.published, LOGICAL, None, as_printed=not lossless)
    texts = ruled.of_row(selected(row))
    assert texts is not None
    named = dict(zip([column.name for column in ruled.published], texts, strict=False))
    named |= dict(zip(ruled.longer_in_key, texts[len(ruled.published) :], strict=True))
    assert json.loads(keys.encode(refined.shown(RowChange(None, row))) or b"") == [
        "shop.customer",
        named["ratio"],
        named["id"],
    ]


def test_columns_are_those_of_messages() -> None:
    ruled = rules(
        rules=[{"tables": ".*", "fields": ["price", "email", "state"], "where": "note is null"}],
        masks=[
            {"columns": ".*\\.price", "method": "hash", "salt": SALT},
            {"columns": ".*\\.email", "method": "truncate", "length": 1},
            {"columns": ".*\\.state", "method": "replace", "value": "no"},
        ],
    )
    assert ruled.published == (
        SOURCE[0],
        SOURCE[1],
        SourceColumn("price", "varchar", "varchar(64)"),
        SourceColumn("state", "varchar", "varchar(2)"),
    )
    assert (ruled.hides_key, ruled.decides_keys) == (False, True)


def test_a_masked_key_is_hidden_and_operations_are_told() -> None:
    ruled = rules(
        rules=[{"tables": ".*", "operations": ["INSERT", "UPDATE"]}],
        masks=[{"columns": ".*\\.id", "method": "hash", "salt": SALT}],
    )
    assert (ruled.hides_key, ruled.decides_keys) == (True, True)
    assert ruled.operations == {Operation.INSERT, Operation.UPDATE}


def test_tables_without_rules_have_none() -> None:
    ruled = rules(
        rules=[{"tables": "other.*", "where": "id = 1"}],
        masks=[{"columns": "other.*", "method": "replace"}],
    )
    assert ruled.refinement is None
    assert ruled.published == SOURCE
    assert not ruled.decides_keys


def test_what_no_table_can_have_is_refused() -> None:
    with pytest.raises(RuleRefused, match="part of the key"):
        _ = rules(masks=[{"columns": ".*\\.id", "method": "replace"}]).refinement


def test_only_settings_travel_to_executors() -> None:
    ruled = rules(rules=[{"tables": ".*", "where": "id = 1"}])
    assert ruled.refinement is not None
    sent = deepcopy(ruled)  # as pickle takes it
    assert sent == ruled
    assert "refinement" not in vars(sent)
    assert sent.of_row([str(1), *[None] * len(COLUMNS)]) == [str(1), *[None] * (len(COLUMNS) - 1)]
    assert sent.of_row([str(2), *[None] * len(COLUMNS)]) is None

"""Field lists, operations and conditions: which changes are published, and with which columns."""

import pytest

from relay.encode import exact_text
from relay.errors import ConditionRefused
from relay.model.change import Operation, RowChange
from relay.model.table import TableId
from relay.model.value import ABSENT, JsonDocument, Value
from relay.refine import Refinements, configuration_of_rows
from relay.refine.table_refinement import CONDITION, FIELDS
from tests.support.conditions import DEFINITION, row
from tests.unit.refine.tables import LOGICAL, instance, published, refinement

TABLES = "shop_.*\\.customer"
ONLY_MAIL = {"tables": TABLES, "fields": ["EMAIL"]}


def test_a_table_without_rules_is_left_alone() -> None:
    rules = [{"tables": "shop_.*\\.order", "fields": ["id"]}]
    assert Refinements(instance(rules=rules), {}).of(DEFINITION, LOGICAL, exact_text) is None


def test_only_the_fields_listed_are_published_and_the_key_always() -> None:
    refined = refinement(rules=[ONLY_MAIL])
    assert [column.name for column in refined.published.map.columns] == ["id", "email"]
    assert (
        refined.published.key,
        refined.published.map.primary_key,
        refined.published.type_texts,
    ) == ((0,), (0,), ("int", "varchar(100)"))
    assert published(refined, RowChange(None, row(email=b"a", price="1.00"))) == [
        (None, {"id": 1, "email": b"a"})
    ]


def test_a_change_that_touches_no_field_is_left_out() -> None:
    refined = refinement(rules=[ONLY_MAIL])
    assert (
        refined.changes(RowChange(row(email=b"a", price="1.00"), row(email=b"a", price="2.00")))
        is FIELDS
    )
    assert published(refined, RowChange(row(email=b"a"), row(email=b"b"))) == [
        ({"id": 1, "email": b"a"}, {"id": 1, "email": b"b"})
    ]
    assert published(refined, RowChange(row(id=1), row(id=2))) == [
        ({"id": 1, "email": None}, {"id": 2, "email": None})
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"ratio": 0.0}, {"ratio": -0.0}),
        ({"doc": JsonDocument([1])}, {"doc": JsonDocument([True])}),
    ],
)
def test_values_that_are_equal_for_python_alone_are_a_change(
    before: dict[str, object], after: dict[str, object]
) -> None:
    assert (
        refinement(rules=[{"tables": TABLES, "fields": ["ratio", "doc"]}]).changes(
            RowChange(row(**before), row(**after))
        )
        is not FIELDS
    )


def test_an_image_with_the_changed_columns_alone_touches_those() -> None:
    refined = refinement(rules=[ONLY_MAIL])
    lacking: list[Value] = [ABSENT] * len(row())
    before = (1, *lacking[1:])
    assert refined.changes(RowChange(before, (*lacking[:3], "1.00", *lacking[4:]))) is FIELDS
    assert len(published(refined, RowChange(before, (ABSENT, b"a", *lacking[2:])))) == 1


def test_fields_that_are_never_published() -> None:
    refined = refinement(rules=[{"tables": TABLES, "without_fields": ["email", "ID"]}])
    names = [column.name for column in refined.published.map.columns]
    assert "email" not in names
    assert names[:2] == ["id", "name"]


def test_several_rules_hold_together() -> None:
    rules = [
        {
            "tables": TABLES,
            "fields": ["email", "price"],
            "operations": ["INSERT", "UPDATE"],
            "where": "price > 1",
        },
        {
            "tables": ".*\\.customer",
            "without_fields": ["price"],
            "operations": ["UPDATE", "DELETE"],
            "where": "price < 5",
        },
    ]
    refined = refinement(rules=rules)
    assert [column.name for column in refined.published.map.columns] == ["id", "email"]
    assert [operation for operation in Operation if refined.takes(operation)] == [Operation.UPDATE]
    assert refined.changes(RowChange(None, row(price="1.00"))) is CONDITION
    assert refined.changes(RowChange(None, row(price="5.00"))) is CONDITION
    assert len(published(refined, RowChange(None, row(price="3.00")))) == 1


@pytest.mark.parametrize(
    ("before", "after", "made"),
    [
        (None, "2.00", [(None, "2.00")]),
        (None, "0.00", None),
        (None, None, None),
        ("2.00", "3.00", [("2.00", "3.00")]),
        ("0.00", "3.00", [(None, "3.00")]),
        ("2.00", "0.00", [("2.00", None)]),
        ("0.00", "0.50", None),
    ],
)
def test_rows_come_and_go_with_the_condition(
    before: str | None, after: str | None, made: list[tuple[str | None, str | None]] | None
) -> None:
    refined = refinement(rules=[{"tables": TABLES, "where": "price > 1"}])
    change = RowChange(None if before is None else row(price=before), row(price=after))
    result = refined.changes(change)
    if made is None:
        assert result is CONDITION
        return
    images = [
        tuple(None if image is None else image["price"] for image in each)
        for each in published(refined, change)
    ]
    assert images == made


def test_a_deleted_row_is_judged_as_it_was() -> None:
    refined = refinement(rules=[{"tables": TABLES, "where": "price > 1"}])
    assert refined.changes(RowChange(row(price="0.50"), None)) is CONDITION
    assert refined.changes(RowChange(row(price=None), None)) is CONDITION
    assert len(published(refined, RowChange(row(price="1.50"), None))) == 1


def test_a_condition_that_cannot_be_read_is_refused_before_any_table_comes() -> None:
    with pytest.raises(ConditionRefused):
        Refinements(instance(rules=[{"tables": TABLES, "where": "price >"}]), {})


def test_statements_are_withheld_where_values_are_hidden() -> None:
    mask = [{"columns": "x\\.y\\.z", "method": "replace"}]
    assert Refinements(instance(masks=mask), {}).withhold([TableId("a", "b")])
    lists = Refinements(instance(rules=[ONLY_MAIL]), {})
    assert [
        lists.withhold(tables) for tables in ([DEFINITION.id], [TableId("shop_1", "order")], [])
    ] == [True, False, True]
    assert not Refinements(instance(rules=[{"tables": TABLES, "where": "id = 1"}]), {}).withhold([])


def test_other_rules_are_another_configuration() -> None:
    plain = instance()
    salts = [
        instance(masks=[{"columns": "a", "method": "hash", "salt": salt * 16}]) for salt in "xy"
    ]
    ruled = instance(rules=[ONLY_MAIL])
    texts = [configuration_of_rows(each) for each in (plain, *salts, ruled)]
    assert texts[0] == ""
    assert len(set(texts)) == 4

import pytest
from pyspark.sql.types import DataType, StringType

from spark_jobs.config.job import SchemaPolicy
from spark_jobs.errors import SchemaChangeRefused
from spark_jobs.sinks.schema_evolution import SchemaPlan, schema_plan, widens_in_place
from spark_jobs.transforms import spark_type

FOLLOW = SchemaPolicy()


def kinds(**columns: str) -> dict[str, DataType]:
    return {name: spark_type(text) for name, text in columns.items()}


@pytest.mark.parametrize(
    ("present", "seen", "gone", "plan"),
    [
        (kinds(a="int"), kinds(a="int"), [], SchemaPlan(kinds(a="int"))),
        (kinds(a="int"), kinds(A="int"), [], SchemaPlan(kinds(a="int"))),
        (kinds(a="int"), kinds(b="date"), [], SchemaPlan(kinds(a="int", b="date"), added=("b",))),
        (kinds(a="int"), kinds(a="bigint"), [], SchemaPlan(kinds(a="bigint"), widened=("a",))),
        (kinds(a="bigint"), kinds(a="int"), [], SchemaPlan(kinds(a="bigint"))),
        (kinds(a="int"), kinds(a="text"), [], SchemaPlan({"a": StringType()}, rewritten=("a",))),
        (kinds(a="text"), kinds(a="int"), [], SchemaPlan({"a": StringType()})),
        (kinds(a="int", b="int"), kinds(a="int"), ["b"], SchemaPlan(kinds(a="int", b="int"))),
    ],
)
def test_columns_follow_the_table(
    present: dict[str, DataType], seen: dict[str, DataType], gone: list[str], plan: SchemaPlan
) -> None:
    assert schema_plan("shop.t", present, seen, gone, FOLLOW) == plan


def test_what_is_ignored_is_not_in_the_copy_and_what_is_dropped_leaves_it() -> None:
    assert schema_plan(
        "shop.t", kinds(a="int"), kinds(b="int"), [], SchemaPolicy(added="ignore")
    ) == SchemaPlan(kinds(a="int"))
    dropped = schema_plan(
        "shop.t", kinds(a="int", b="int"), kinds(a="int"), ["b"], SchemaPolicy(dropped="drop")
    )
    assert dropped == SchemaPlan(kinds(a="int"), dropped=("b",))


@pytest.mark.parametrize(
    ("what", "present", "seen", "gone"),
    [
        ("added", kinds(a="int"), kinds(b="int"), []),
        ("retyped", kinds(b="int"), kinds(b="bigint"), []),
        ("dropped", kinds(a="int", b="int"), kinds(a="int"), ["b"]),
    ],
)
def test_stop_names_table_and_column(
    what: str, present: dict[str, DataType], seen: dict[str, DataType], gone: list[str]
) -> None:
    with pytest.raises(
        SchemaChangeRefused,
        match=rf"Table shop\.t changed: {what} b, and schema_changes\.{what} is 'stop'",
    ):
        schema_plan("shop.t", present, seen, gone, SchemaPolicy.model_validate({what: "stop"}))


@pytest.mark.parametrize(
    ("old", "new", "in_place"),
    [
        ("tinyint", "bigint", True),
        ("int", "double", True),
        ("bigint", "double", False),
        ("bigint", "bigint unsigned", True),
        ("int", "decimal(9,0)", False),
        ("int", "decimal(12,2)", True),
        ("decimal(5,2)", "decimal(9,3)", True),
        ("float", "double", True),
        ("date", "datetime", True),
        ("datetime", "text", False),
        ("blob", "text", False),
    ],
)
def test_what_delta_can_do_by_itself(old: str, new: str, in_place: bool) -> None:
    assert widens_in_place(spark_type(old), spark_type(new)) is in_place

"""Generated columns that a source does not log are told, unless a rule leaves them out."""

import pytest

from relay.model.table import TableId
from relay.preflight import Verdict
from relay.preflight.generated_checks import check_generated_columns, stopping_columns
from relay.schema.catalog.generated_columns import generated_columns_are_logged
from relay.settings import InstanceSettings

COLUMNS = [
    (TableId("shop_1", "orders"), "Total"),
    (TableId("shop_1", "orders"), "day"),
    (TableId("other", "t"), "g"),
]


@pytest.mark.parametrize(
    ("version", "logged"),
    [
        ("11.4.5-MariaDB-log", True),
        ("10.11.14-MariaDB-0+deb12u2", True),
        ("11.8.9-MariaDB-0+deb13u1", False),
        ("12.0.2-MariaDB", False),
        ("9.7.0", True),
        ("12.1.0", True),
        ("unknown", True),
    ],
)
def test_who_logs_generated_columns(version: str, logged: bool) -> None:
    assert generated_columns_are_logged(version) is logged


def stopping(**settings: object) -> list[str]:
    instance = InstanceSettings.model_validate(
        {"name": "x", "source": {"host": "h", "user": "u", "server_id": 7}, **settings}
    )
    return stopping_columns(instance, COLUMNS, lambda table: table.database == "shop_1")


def test_published_columns_of_relayed_tables_are_told() -> None:
    assert stopping() == ["shop_1.orders.Total", "shop_1.orders.day"]


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        ({"tables": "shop_.*", "without_fields": ["total"]}, ["shop_1.orders.day"]),
        ({"tables": "shop_1\\.orders", "without_fields": ["total", "DAY"]}, []),
        ({"tables": "shop_.*", "fields": ["day"]}, ["shop_1.orders.day"]),
        (
            {"tables": "shop_1\\.customer", "without_fields": ["total", "day"]},
            ["shop_1.orders.Total", "shop_1.orders.day"],
        ),
    ],
    ids=["one", "all", "not listed", "of another table"],
)
def test_columns_that_a_rule_leaves_out_are_not_told(
    rule: dict[str, object], left: list[str]
) -> None:
    assert stopping(rules=[rule]) == left


def test_partial_rows_need_no_source() -> None:
    instance = InstanceSettings.model_validate(
        {
            "name": "x",
            "source": {"host": "nowhere.invalid", "user": "u", "server_id": 7},
            "message": {"row_image": "partial"},
        }
    )
    assert check_generated_columns(instance, None).verdict is Verdict.PASSED

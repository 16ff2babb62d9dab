"""Names in rules and masks that meet nothing are told."""

from relay.model.table import TableId
from relay.preflight.row_checks import check_rows, unmet_names
from relay.settings import InstanceSettings

COLUMNS = [(TableId("shop_1", "customer"), name) for name in ("id", "Email")]


def unmet(**settings: object) -> list[str]:
    source = {"host": "h", "user": "u", "server_id": 7}
    return list(
        unmet_names(
            InstanceSettings.model_validate({"name": "x", "source": source, **settings}), COLUMNS
        )
    )


def test_what_meets_a_column_is_not_told() -> None:
    rules = [{"tables": "shop_\\d\\.customer", "fields": ["EMAIL"], "without_fields": ["id"]}]
    assert unmet(rules=rules, masks=[{"columns": ".*\\.email", "method": "replace"}]) == []


def test_a_mask_that_hides_nothing_is_told() -> None:
    assert unmet(masks=[{"columns": ".*\\.e_mail", "method": "replace"}]) == [
        "The mask on .*\\.e_mail matches no column of the source."
    ]


def test_a_rule_for_no_table_and_a_field_of_no_table_are_told() -> None:
    assert unmet(rules=[{"tables": "shop\\.customer"}]) == [
        "The rule for shop\\.customer matches no table of the source."
    ]
    assert unmet(rules=[{"tables": ".*", "fields": ["mail"]}]) == [
        "The rule for .* names the field mail, which no table of them has."
    ]


def test_nobody_is_asked_where_nothing_is_named() -> None:
    source = {"host": "nowhere.invalid", "user": "u", "server_id": 7}
    assert check_rows(InstanceSettings.model_validate({"name": "x", "source": source})) == []

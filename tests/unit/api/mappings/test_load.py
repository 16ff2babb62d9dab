"""How many rows per second a change of the mapping concerns."""

import pytest

from api.services.mappings.effects.load import InstanceRates, Load, load_of
from api.services.mappings.routing_views import RouteEffect
from relay.model.table import TableId
from relay.route import ChangeKind

MET = {
    "a": [TableId("shop_01", "user"), TableId("shop_01", "cart")],
    "b": [TableId("shop_02", "user")],
    "other": [TableId("shop_01", "user")],
}
RATES = {"a": InstanceRates(1200.0), "b": InstanceRates(34.4), "other": InstanceRates(7.0)}
BOTH = ("shop_01.user", "shop_02.user")


def change(kind: ChangeKind, *tables: str) -> RouteEffect:
    return RouteEffect(("a", "b"), "", tables, kind)


@pytest.mark.parametrize("kind", ["left_out", "stopped", "moved", "renamed", "retagged"])
def test_a_change_of_published_tables_concerns_the_instances_that_have_met_them(
    kind: ChangeKind,
) -> None:
    load = load_of(change(kind, *BOTH), MET, RATES)
    assert load == Load(("a", "b"), 1234.4)
    assert load.sentence == "At most 1,234 rows/s: what a and b publish now, other tables included."


@pytest.mark.parametrize("kind", ["covered", "note"])
def test_rows_that_are_not_published_yet_are_in_no_rate(kind: ChangeKind) -> None:
    assert load_of(change(kind, *BOTH), MET, RATES) is None


def test_other_tables_of_a_database_concern_who_has_met_the_database() -> None:
    assert load_of(change("moved", "shop_02.*"), MET, RATES) == Load(("b",), 34.4)
    assert load_of(change("moved", "crm.*"), MET, RATES) is None


def test_a_rate_that_is_not_known_is_not_taken_for_zero() -> None:
    load = load_of(
        change("moved", *BOTH), MET, {**RATES, "b": InstanceRates(None, {"shop_02.user": 9.0})}
    )
    assert load == Load(("a", "b"), None)
    assert load.sentence == ""


def test_rates_of_tables_give_the_rows_of_the_change_alone() -> None:
    tables = {"a": {"shop_01.user": 2.5, "shop_01.cart": 900.0}, "b": {"shop_02.user": 40.0}}
    rates = {name: InstanceRates(1000.0, theirs) for name, theirs in tables.items()}
    load = load_of(change("moved", *BOTH), MET, rates)
    assert load == Load(("a", "b"), 42.5, is_bound=False)
    assert load.sentence == "42 rows/s: what a and b publish of these tables."
    assert load_of(change("moved", "shop_01.*"), MET, rates) == Load(("a",), 902.5, is_bound=False)


def test_a_table_without_a_rate_of_its_own_may_have_those_of_the_others() -> None:
    rates = {"a": InstanceRates(9.0, {"shop_01.cart": 5.0, "(other)": 4.0})}
    assert load_of(change("moved", "shop_01.user"), MET, rates) == Load(("a",), 4.0)
    assert load_of(change("moved", "shop_01.cart"), MET, rates) == Load(("a",), 5.0, is_bound=False)


def test_one_instance_that_does_not_tell_makes_the_sum_a_bound() -> None:
    rates = {"a": InstanceRates(9.0, {"shop_01.user": 5.0}), "b": InstanceRates(3.0)}
    assert load_of(change("moved", *BOTH), MET, rates) == Load(("a", "b"), 8.0)

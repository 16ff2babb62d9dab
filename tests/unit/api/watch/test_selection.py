"""Filters and orders of a list of instances."""

import pytest

from api.services.watch import SORTS, Facts, Selection, StatePeriod, selected
from tests.unit.api.watch.instances import view_of


def facts_of(name: str, state: str, *, lag: float | None = None, code: str = "") -> Facts:
    view = view_of(name, state, lag_seconds=lag, code=code)
    return Facts(view, StatePeriod(0, state, code, "", "r1", exact=True), rate=lag)


FACTS = [
    facts_of("shop", "RUNNING", lag=0.5),
    facts_of("crm", "STOPPED", code="UNMAPPED_NAME"),
    facts_of("ads", "RUNNING", lag=48.0),
    facts_of("new", "NEVER_REPORTED"),
    facts_of("mail", "WAITING", lag=7.0),
]
ADDRESSES = {"shop": "mysql-1:3306", "crm": "mysql-2:3306"}


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        (Selection(), ["crm", "mail", "new", "ads", "shop"]),
        (Selection(sort="name"), ["ads", "crm", "mail", "new", "shop"]),
        (Selection(sort="lag", down=True), ["ads", "mail", "shop", "crm", "new"]),
        (Selection(filter="MYSQL"), ["crm", "shop"]),
        (Selection(filter="mysql unmapped"), ["crm"]),
        (Selection(state="RUNNING", sort="name"), ["ads", "shop"]),
        (Selection(filter="nothing"), []),
    ],
)
def test_a_list_holds_what_was_asked_for_in_its_order(asked: Selection, names: list[str]) -> None:
    assert [each.view.name for each in selected(FACTS, ADDRESSES, asked)] == names


@pytest.mark.parametrize("sort", SORTS)
def test_every_order_keeps_every_instance(sort: str) -> None:
    for down in (False, True):
        found = selected(FACTS, ADDRESSES, Selection(sort=sort, down=down))  # type: ignore[arg-type]
        assert {each.view.name for each in found} == {each.view.name for each in FACTS}

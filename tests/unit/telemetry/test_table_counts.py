"""Counts and rates by table, with a bounded number of names."""

from hypothesis import given
from hypothesis import strategies as st

from relay.model.table import TableId
from relay.telemetry import (
    OTHER,
    InstanceMetrics,
    OpenTableCounts,
    ShownTotals,
    TableBudget,
    TableCount,
    TableRates,
    TableTotals,
    Totals,
    metrics,
)

USER, CART, LOG = (TableId("shop", name) for name in ("user", "cart", "log"))


def test_a_source_transaction_counts_once_for_each_table_and_operation() -> None:
    counts = OpenTableCounts()
    counts.begin_transaction()
    counts.count(USER, "INSERT", 2, 20)
    counts.count(USER, "INSERT", 1, 10)
    counts.count(USER, "DELETE", 1, 5)
    counts.begin_transaction()
    counts.count(USER, "INSERT", 1, 10)
    counts.add([(USER, "INSERT", TableCount(7, 3, 70))])
    assert counts.taken() == {
        (USER, "INSERT"): TableCount(11, 5, 110),
        (USER, "DELETE"): TableCount(1, 1, 5),
    }
    assert counts.taken() == {}


def test_parts_of_a_transaction_count_it_in_the_first_batch() -> None:
    counts = OpenTableCounts()
    counts.begin_transaction()
    counts.count(USER, "INSERT", 2, 20)
    counts.taken()
    counts.count(USER, "INSERT", 3, 30)
    assert counts.taken() == {(USER, "INSERT"): TableCount(3, 0, 30)}


@given(
    st.integers(0, 4),
    st.lists(st.tuples(st.sampled_from([USER, CART, LOG]), st.integers(1, 9)), max_size=20),
)
def test_the_sum_is_whole_and_the_names_are_bounded(
    most: int, batches: list[tuple[TableId, int]]
) -> None:
    totals = TableTotals(most)
    for table, rows in batches:
        totals.add({(table, "UPDATE"): TableCount(rows, 1, rows)})
    found = dict(totals.each())
    assert sum(each.rows for each in found.values()) == sum(rows for _, rows in batches)
    assert len({table for table, _ in found} - {OTHER}) <= most


def test_counters_rise_by_what_came() -> None:
    shown, totals = ShownTotals(InstanceMetrics("table_metrics")), Totals(tables=TableTotals(1))
    inserted = {(USER, "INSERT"): TableCount(2, 1, 20), (CART, "INSERT"): TableCount(5, 2, 9)}
    totals.tables.add(inserted)
    shown.show(totals)
    totals.tables.add({(USER, "INSERT"): TableCount(1, 1, 10)})
    shown.show(totals)
    text = metrics.render().decode()
    labels = 'database="shop",instance="table_metrics",operation="INSERT",table="user"'
    assert f"roma_table_rows_total{{{labels}}} 3.0" in text
    assert f"roma_table_transactions_total{{{labels}}} 2.0" in text
    assert f"roma_table_bytes_total{{{labels}}} 30.0" in text
    other = 'database="(other)",instance="table_metrics",operation="INSERT",table="(other)"'
    assert f"roma_table_rows_total{{{other}}} 5.0" in text


def test_an_instance_that_leaves_takes_its_tables_along() -> None:
    name = "leaving_table_metrics"
    shown, totals = ShownTotals(InstanceMetrics(name)), Totals(tables=TableTotals(1))
    totals.tables.add({(USER, "INSERT"): TableCount(2, 1, 20)})
    shown.show(totals)
    totals.forget_tables()
    shown.show(totals)
    assert f'instance="{name}",operation="INSERT"' not in metrics.render().decode()

    totals.tables.add({(CART, "INSERT"): TableCount(3, 1, 20)})
    shown.show(totals)
    text = metrics.render().decode()
    labels = f'database="shop",instance="{name}",operation="INSERT",table="cart"'
    assert f"roma_table_rows_total{{{labels}}} 3.0" in text

    again = ShownTotals(InstanceMetrics(name))
    again.show(Totals())
    assert labels not in metrics.render().decode(), "its settings changed"


def test_tables_of_all_instances_are_bounded_until_one_leaves() -> None:
    budget = TableBudget(2)
    one, other = Totals(tables=TableTotals(9, budget)), Totals(tables=TableTotals(9, budget))
    one.tables.add({(USER, "INSERT"): TableCount(1), (CART, "INSERT"): TableCount(1)})
    other.tables.add({(LOG, "INSERT"): TableCount(1)})
    assert [table for (table, _), _ in other.tables.each()] == [OTHER]
    one.forget_tables()
    other.tables.add({(LOG, "INSERT"): TableCount(1)})
    assert [table for (table, _), _ in other.tables.each()] == [OTHER, LOG]


def test_rates_are_of_the_last_minute_and_name_the_busiest() -> None:
    rates, rows = TableRates(1), {"a.x": 100}
    assert rates.now(lambda: rows, 0.0) == {}
    rows = {"a.x": 200, "a.y": 30, "a.z": 10, "a.idle": 0}
    assert rates.now(lambda: rows, 9.9) == {}
    assert rates.now(lambda: rows, 10.0) == {"a.x": 10.0, "(other)": 4.0}
    for step in range(2, 9):
        found = rates.now(lambda: rows, 10.0 * step)
    assert found == {}

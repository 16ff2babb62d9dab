"""Figures and the comparison must be able to say no."""

from hypothesis import given
from hypothesis import strategies as st

from deploy.demo.comparison import TextRow, compare
from deploy.demo.figures import latencies_ms, percentile


def test_rows_are_compared_by_key_and_a_missing_column_is_null() -> None:
    source: list[TextRow] = [
        {"id": "1", "n": "a", "late": None},
        {"id": "2", "n": "b", "late": "x"},
    ]
    assert compare("t", source, [{"id": "2", "n": "b", "late": "x"}, {"id": "1", "n": "a"}]).equal


def test_a_changed_a_missing_and_a_doubled_row_differ() -> None:
    rows: list[TextRow] = [{"id": "1", "n": "a"}, {"id": "2", "n": "b"}]
    assert compare("t", rows, [{"id": "1", "n": "A"}, {"id": "2", "n": "b"}]).differing == ("1",)
    assert compare("t", rows, [{"id": "1", "n": "a"}]).differing == ("2",)
    assert not compare("t", rows, [*rows, {"id": "2", "n": "b"}]).equal


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0.01, 1))
def test_a_percentile_has_its_share_of_the_values_at_or_below_it(
    values: list[float], share: float
) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values)
    assert sum(value < found for value in values) < share * len(values)


def test_a_latency_needs_both_ends() -> None:
    assert latencies_ms({"a": 1.0, "b": 2.0, "c": 3.0}, {"a": 1.25, "b": 1.9}) == [250.0, 0.0]

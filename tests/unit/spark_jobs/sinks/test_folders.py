import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.sinks.folders import folder_of, table_of


@pytest.mark.parametrize(
    ("table", "folder"),
    [
        ("shop.orders", "shop/orders"),
        ("_quarantine.a/../b", "%5Fquarantine/a%2F..%2Fb"),
        ("shop...", "shop/%2E."),
    ],
)
def test_a_name_stays_inside_the_root(table: str, folder: str) -> None:
    assert folder_of(table) == folder


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)


@given(names.filter(lambda name: "." not in name), names)
def test_a_folder_tells_its_table(database: str, name: str) -> None:
    table = f"{database}.{name}"
    assert table_of(f"s3a://bucket/root/{folder_of(table)}/") == table

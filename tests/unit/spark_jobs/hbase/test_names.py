"""Names of tables: every logical one has an HBase name of its own."""

import re
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.hbase.names import hbase_name

parts = st.text(st.sampled_from("ab_-.%:0F") | st.characters(codec="utf-8"), max_size=5)


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("shop.orders_2024", "n:shop.orders_2024"),
        ("my-shop.a b", "n:my-2Dshop.a-20b"),
        ("shop.a.b", "n:shop.a-2Eb"),
        ("店.é", "n:_--E5-BA-97.-C3-A9"),
        ("_-x.t", "n:_-2Dx.t"),
    ],
)
def test_a_name_can_be_recognised(table: str, name: str) -> None:
    assert hbase_name(table, "n") == name


@given(parts.filter(lambda database: "." not in database), parts)
def test_a_name_is_legal_and_can_be_read_back(database: str, name: str) -> None:
    written = hbase_name(f"{database}.{name}", "roma")
    assert re.fullmatch(r"roma:[A-Za-z0-9_][A-Za-z0-9_.-]*", written)
    assert _read_back(written) == f"{database}.{name}"


def _read_back(name: str) -> str:
    """The logical table of a name: no two tables have one name if this finds each again."""
    written = name.partition(":")[2]
    if re.match(r"_-[-.]", written):
        written = written.removeprefix("_-")
    return unquote_to_bytes(written.replace("-", "%")).decode()

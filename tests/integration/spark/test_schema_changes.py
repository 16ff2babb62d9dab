"""A table that changes under the copy: what a row holds depends on its newest change alone, wherever batches end."""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from pyspark.sql import SparkSession

from relay.model.message import OutboundMessage
from spark_jobs.sinks import DeltaCopies
from tests.support.spark_copies import apply, change, copy_of

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")

FIRST = [change("t", "INSERT", key, int(key), id=key, note="n", old="o") for key in ("1", "2", "3")]
ADDED = change("t", "UPDATE", "1", 10, id="1", note="n", old="o", added="x")
DROPPED = change("t", "UPDATE", "2", 11, id="2", old="o", added=None)
RENAMED = change("t", "UPDATE", "1", 12, row={"odd.name `é": "o"}, id="1", added="x")
OTHER_CASE = change("t", "INSERT", "4", 13, row={"odd.name `é": "4"}, id="4", ADDED="y")
EXPECTED = {
    "1": {"id": "1", "note": None, "old": None, "added": "x", "odd.name `é": "o"},
    "2": {"id": "2", "note": None, "old": "o", "added": None, "odd.name `é": None},
    "3": {"id": "3", "note": "n", "old": "o", "added": None, "odd.name `é": None},
    "4": {"id": "4", "note": None, "old": None, "added": "y", "odd.name `é": "4"},
}


@pytest.mark.parametrize(
    "batches",
    [[[*FIRST], [ADDED, DROPPED], [RENAMED, OTHER_CASE]], [[*FIRST, ADDED, DROPPED, RENAMED, OTHER_CASE]]],
    ids=["three batches", "one batch"],
)
def test_columns_come_and_go(spark: SparkSession, tmp_path: Path, batches: list[list[OutboundMessage]]) -> None:
    for batch in batches:
        assert apply(spark, tmp_path, *batch).put_aside == 0
    found = {key: {name.replace("ADDED", "added"): value for name, value in row.items()} for key, row in copy_of(spark, tmp_path).items()}
    assert found == EXPECTED


def without_rows(kind: str, order: int) -> OutboundMessage:
    """A DDL statement that is no business of the copy."""
    message = change("t", kind, None, order)
    return replace(message, value=orjson.dumps({"data": None, "database": "shop", "isDdl": True, "table": "", "type": kind}))


def test_what_no_copy_can_show_is_put_aside_by_name(spark: SparkSession, tmp_path: Path) -> None:
    like_a_guard = change("t", "INSERT", "1", 1, table="odd", id="1", _Order="x")
    empties, grants = change("t", "TRUNCATE", None, 3), without_rows("QUERY", 4)
    figures = apply(spark, tmp_path, like_a_guard, change("t", "INSERT", "2", 2, id="2"), empties, grants)
    assert [reason.split(" (")[0] for reason in sorted(figures.problems)] == [
        "table shop.odd has a column named like a guard of the copy",
        "table shop.orders was truncated or dropped, which its copy does not follow: it keeps the rows",
    ]
    assert list(copy_of(spark, tmp_path)) == ["2"]


@pytest.mark.parametrize(
    ("table", "folder"), [("shop.orders", "shop/orders"), ("_quarantine.a/../b", "%5Fquarantine/a%2F..%2Fb"), ("shop...", "shop/%2E.")]
)
def test_a_name_stays_inside_the_root(spark: SparkSession, tmp_path: Path, table: str, folder: str) -> None:
    assert DeltaCopies(spark, tmp_path).path(table) == str(tmp_path / folder)

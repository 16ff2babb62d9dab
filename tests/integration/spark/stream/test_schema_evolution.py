"""A table that changes under the copy: what a row holds depends on its newest change alone,
wherever batches end.
"""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from pyspark.sql import SparkSession

from relay.model.message import OutboundMessage
from spark_jobs.config.job import SchemaPolicy
from spark_jobs.errors import SchemaChangeRefused
from spark_jobs.sinks import DeltaSink
from spark_jobs.transforms import GUARDS
from tests.support.copies.spark_copies import apply, change, copy_of

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
    [
        [[*FIRST], [ADDED, DROPPED], [RENAMED, OTHER_CASE]],
        [[*FIRST, ADDED, DROPPED, RENAMED, OTHER_CASE]],
    ],
    ids=["three batches", "one batch"],
)
def test_columns_come_and_go(
    spark: SparkSession, tmp_path: Path, batches: list[list[OutboundMessage]]
) -> None:
    for batch in batches:
        assert apply(spark, tmp_path, *batch).put_aside == 0
    found = {
        key: {name.replace("ADDED", "added"): value for name, value in row.items()}
        for key, row in copy_of(spark, tmp_path).items()
    }
    assert found == EXPECTED


def typed(key: str, order: int, types: dict[str, str], **data: str | None) -> OutboundMessage:
    return change("t", "UPDATE", key, order, types={"id": "int", **types}, row={"id": key, **data})


def columns_of(spark: SparkSession, root: Path) -> dict[str, str]:
    copy = DeltaSink(spark, root).read("shop.orders")
    assert copy is not None
    return {name: kind for name, kind in copy.dtypes if name not in GUARDS}


def test_a_column_gets_the_type_that_holds_old_and_new_values(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Once in place, once by writing the copy anew.

    And a narrower type that comes late, or comes back, changes nothing.
    """
    old = {"n": "int", "price": "decimal(5,2)", "code": "int", "raw": "varbinary(4)"}
    new = {"n": "bigint", "price": "decimal(9,3)", "code": "varchar(9)", "raw": "varchar(4)"}
    before = typed("1", 1, old, n="1", price="1.50", code="7", raw="w6k=")
    apply(spark, tmp_path, before, number=0)
    assert columns_of(spark, tmp_path) == {
        "id": "int",
        "n": "int",
        "price": "decimal(5,2)",
        "code": "int",
        "raw": "binary",
    }
    late = typed("3", 2, old, n="3", price="3.50", code="8", raw="/w==")
    figures = apply(
        spark,
        tmp_path,
        typed("2", 3, new, n="5000000000", price="2.125", code="x", raw="é"),
        late,
        number=1,
    )
    assert (figures.winners, figures.replayed) == (2, 0)
    assert columns_of(spark, tmp_path) == {
        "id": "int",
        "n": "bigint",
        "price": "decimal(9,3)",
        "code": "string",
        "raw": "string",
    }
    apply(spark, tmp_path, typed("4", 4, old, n="4", price="4.50", code="9", raw="YQ=="), number=2)
    assert {
        row["id"]: (row["n"], str(row["price"]), row["code"], row["raw"])
        for row in copy_of(spark, tmp_path).values()
    } == {
        1: (1, "1.500", "7", "é"),
        2: (5_000_000_000, "2.125", "x", "é"),
        3: (3, "3.500", "8", "/w=="),
        4: (4, "4.500", "9", "a"),
    }


@pytest.mark.long
def test_a_policy_lets_columns_follow_the_newest_change(
    spark: SparkSession, tmp_path: Path
) -> None:
    policy = SchemaPolicy(dropped="drop")
    apply(spark, tmp_path, typed("1", 1, {"gone": "int"}, gone="1"), schema_changes=policy)
    apply(spark, tmp_path, typed("2", 5, {"came": "int"}, came="2"), schema_changes=policy)
    assert columns_of(spark, tmp_path) == {"id": "int", "came": "int"}
    apply(spark, tmp_path, typed("3", 3, {"gone": "int"}, gone="3"), schema_changes=policy)
    assert columns_of(spark, tmp_path) == {"id": "int", "came": "int"}
    assert sorted(copy_of(spark, tmp_path)) == [1, 2, 3]


def test_a_policy_stops_before_anything_is_written(spark: SparkSession, tmp_path: Path) -> None:
    apply(spark, tmp_path, typed("1", 1, {}))
    with pytest.raises(
        SchemaChangeRefused,
        match=r"Table shop\.orders changed: added came, and schema_changes\.added is 'stop'\. ",
    ):
        apply(
            spark,
            tmp_path,
            typed("2", 2, {"came": "int"}, came="2"),
            schema_changes=SchemaPolicy(added="stop"),
        )
    assert list(copy_of(spark, tmp_path)) == [1]


def without_rows(kind: str, order: int) -> OutboundMessage:
    """A DDL statement that is no business of the copy."""
    message = change("t", kind, None, order)
    return replace(
        message,
        value=orjson.dumps(
            {"data": None, "database": "shop", "isDdl": True, "table": "", "type": kind}
        ),
    )


def test_what_no_copy_can_show_is_put_aside_by_name(spark: SparkSession, tmp_path: Path) -> None:
    like_a_guard = change("t", "INSERT", "1", 1, table="odd", id="1", _Order="x")
    empties, grants = change("t", "TRUNCATE", None, 3), without_rows("QUERY", 4)
    figures = apply(
        spark, tmp_path, like_a_guard, change("t", "INSERT", "2", 2, id="2"), empties, grants
    )
    assert [reason.split(" (")[0] for reason in sorted(figures.problems)] == [
        "table shop.odd has a column named like a guard of the copy",
        (
            "table shop.orders was truncated or dropped, which its copy does not follow: it "
            "keeps the rows"
        ),
    ]
    assert list(copy_of(spark, tmp_path)) == ["2"]


def test_statements_that_move_rows_without_logging_them_are_told(
    spark: SparkSession, tmp_path: Path
) -> None:
    moved = "lost or got the rows of a partition, which its copy does not follow"
    keyed = "got another primary key: its copy keeps rows under their former keys"
    statements = {
        "alter table parts\n drop partition p2024": moved,
        "ALTER TABLE swapped EXCHANGE PARTITION p1 WITH TABLE old": moved,
        "ALTER TABLE moved IMPORT TABLESPACE": moved,
        "ALTER TABLE keyed DROP PRIMARY KEY, ADD PRIMARY KEY (a, b)": keyed,
        "ALTER TABLE unique ADD UNIQUE (c), DROP PRIMARY KEY, ADD PRIMARY KEY (a)": keyed,
        "ALTER TABLE plain ADD COLUMN part INT, ADD KEY (part)": "",
    }
    kinds = {"unique": "CINDEX"}
    messages = [
        change(
            "t",
            kinds.get(sql.split()[2], "ALTER"),
            None,
            order,
            table=sql.split()[2],
            fields={"isDdl": True, "sql": sql, "data": None},
        )
        for order, sql in enumerate(statements, 1)
    ]
    renamed = change(
        "t",
        "RENAME",
        None,
        9,
        table="new",
        fields={"isDdl": True, "sql": "RENAME TABLE old TO new", "data": None},
    )
    swaps = "RENAME TABLE `a` TO x, `b` TO `a`, x TO `b`"
    swapped = change(
        "t", "RENAME", None, 10, table="x", fields={"isDdl": True, "sql": swaps, "data": None}
    )
    sql = "/* end */ drop database if exists `shop`"
    dropped = change("t", "QUERY", None, 11, table="", fields={"isDdl": True, "sql": sql})
    figures = apply(spark, tmp_path, *messages, renamed, swapped, dropped)
    told = [
        f"table shop.{sql.split()[2]} {problem}" for sql, problem in statements.items() if problem
    ]
    told.append(
        "table shop.new was renamed, which copies do not follow: each keeps the rows of its own "
        "name"
    )
    told.append(f"{told[-1].replace('new', 'x')} ({swaps})")
    told.append(
        "database shop was dropped, which copies do not follow: they keep the rows of its tables"
    )
    assert sorted(figures.problems) == sorted(told)

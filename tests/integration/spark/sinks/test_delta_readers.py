"""Copies as other programs read them: deltalake, pandas, polars and DuckDB, and the features that a
table demands of any reader.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import duckdb
import polars as pl
import pytest
from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import DeltaProtocolError
from pyspark.sql import SparkSession

from spark_jobs.sinks import DeltaSink
from tests.support.copies.spark_copies import apply, change, copy_of

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")

TYPES: Final = {
    "id": "int",
    "n": "bigint",
    "price": "decimal(9,2)",
    "day": "date",
    "at": "datetime(6)",
    "seen": "timestamp",
    "text": "text",
}
ROW: Final = {
    "n": "5",
    "price": "1.50",
    "day": "2024-02-29",
    "at": "2024-02-29 12:00:00",
    "seen": "2024-02-29 12:00:00",
}
HARMLESS_NAMES: Final = ("größe", "a.b", "a`b", "a-b", "a/b", "50%", "it's", '"quoted"', "select")
Rows = dict[int, str | None]
"""Live rows: id → text."""


def _polars(path: str) -> Rows:
    frame = pl.scan_delta(path).filter(~pl.col("_deleted")).collect()
    return dict(zip(frame["id"], frame["text"], strict=True))


def _of_dicts(rows: Iterable[Mapping[str, Any]]) -> Rows:
    return {int(row["id"]): row["text"] for row in rows if not row["_deleted"]}


def _pandas(path: str) -> Rows:
    frame = DeltaTable(path).to_pandas()
    return _of_dicts(frame.astype(object).where(frame.notna(), None).to_dict("records"))


def _arrow(path: str) -> Rows:
    return _of_dicts(DeltaTable(path).to_pyarrow_dataset().to_table().to_pylist())


def _query_builder(path: str) -> Rows:
    builder = QueryBuilder().register("copy", DeltaTable(path))
    frame = pl.DataFrame(builder.execute("SELECT * FROM copy WHERE NOT _deleted"))
    return dict(zip(frame["id"], frame["text"], strict=True))


def _duckdb(path: str) -> Rows:
    found = find_spec("duckdb_extension_delta")
    assert found is not None
    assert found.origin is not None
    extension = next(Path(found.origin).parent.glob("extensions/*/delta.duckdb_extension"))
    with duckdb.connect() as session:
        session.load_extension(str(extension))
        rows = session.execute(
            "SELECT id, text FROM delta_scan(?) WHERE NOT _deleted", [path]
        ).fetchall()
    return dict(rows)


READERS: Final[Mapping[str, Callable[[str], Rows]]] = {
    "polars": _polars,
    "pandas": _pandas,
    "pyarrow": _arrow,
    "deltalake's QueryBuilder": _query_builder,
    "DuckDB": _duckdb,
}


def filled_copy(
    spark: SparkSession, root: Path, odd: tuple[str, ...] = (), **settings: Any
) -> tuple[str, Rows]:
    """Make a copy by inserts, updates, a delete and a late change.

    Its path and what every reader must see.
    """
    types, row = {**TYPES, **dict.fromkeys(odd, "text")}, {**ROW, **dict.fromkeys(odd, "x")}
    first = [
        change("t", "INSERT", str(key), key, types=types, row=row, id=str(key), text="old")
        for key in range(1, 7)
    ]
    newer = [
        change("t", "UPDATE", str(key), 20 + key, types=types, row=row, id=str(key), text="new")
        for key in (2, 3)
    ]
    others = [
        change("t", "DELETE", "4", 30, types=types, row=row, id="4", text="old"),
        change("t", "UPDATE", "5", 1, types=types, row=row, id="5", text="late"),
        change("t", "INSERT", "9", 31, types=types, row=row, id="9", text=None),
    ]
    for number, messages in enumerate((first, newer, others)):
        apply(spark, root, *messages, number=number, **settings)
    return DeltaSink(spark, root).path("shop.orders"), {
        1: "old",
        2: "new",
        3: "new",
        5: "old",
        6: "old",
        9: None,
    }


def _demanded(path: str) -> tuple[int, set[str], Mapping[str, str]]:
    """The reader version and reader features of the table's newest protocol, and its properties."""
    actions = [
        json.loads(line)
        for file in sorted(Path(path).glob("_delta_log/*.json"))
        for line in file.read_text("utf-8").splitlines()
    ]
    protocol = [each["protocol"] for each in actions if "protocol" in each][-1]
    properties = [each["metaData"]["configuration"] for each in actions if "metaData" in each][-1]
    return protocol["minReaderVersion"], set(protocol.get("readerFeatures", [])), properties


@pytest.mark.parametrize(
    "odd",
    [pytest.param((), marks=pytest.mark.long), HARMLESS_NAMES],
    ids=["plain names", "odd names"],
)
def test_every_reader_reads_a_copy_as_it_is_made_by_default(
    spark: SparkSession, tmp_path: Path, odd: tuple[str, ...]
) -> None:
    path, expected = filled_copy(spark, tmp_path, odd)
    assert {name: read(path) for name, read in READERS.items()} == dict.fromkeys(READERS, expected)
    assert _demanded(path)[1] == {"timestampNtz"}


@pytest.mark.long
def test_the_history_is_read_by_every_reader_too(spark: SparkSession, tmp_path: Path) -> None:
    filled_copy(spark, tmp_path, history=True)
    history = DeltaSink(spark, tmp_path / "_history").path("shop.orders")
    assert pl.read_delta(history).height == 11
    assert _demanded(history)[1] == {"timestampNtz"}


@pytest.mark.parametrize("images", [pytest.param("full", marks=pytest.mark.long), "merge"])
def test_rows_in_parts_need_no_more_of_a_reader(
    spark: SparkSession, tmp_path: Path, images: str
) -> None:
    path, expected = filled_copy(spark, tmp_path, row_images=images)
    assert _polars(path) == expected


def test_a_name_that_parquet_cannot_have_gets_column_mapping_and_then_deletion_vectors(
    spark: SparkSession, tmp_path: Path
) -> None:
    path, expected = filled_copy(spark, tmp_path, ("first name",))
    assert {row_id: row["text"] for row_id, row in copy_of(spark, tmp_path).items()} == expected
    assert _demanded(path)[1] == {"columnMapping", "deletionVectors", "timestampNtz"}
    assert _duckdb(path) == _query_builder(path) == expected
    for name in ("polars", "pandas", "pyarrow"):
        with pytest.raises(DeltaProtocolError):
            READERS[name](path)


def test_such_a_name_may_come_later(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        change("t", "INSERT", key, int(key), types=TYPES, row=ROW, id=key, text="old")
        for key in "123"
    ]
    apply(spark, tmp_path, *rows, number=0)
    types = {**TYPES, "first name": "text"}
    for number, key in ((1, "2"), (2, "3")):
        row = {**ROW, "first name": "x"}
        news = change("t", "UPDATE", key, 40 + number, types=types, row=row, id=key, text="newer")
        apply(spark, tmp_path, news, number=number)
    found = {
        row_id: (row["text"], row["first name"]) for row_id, row in copy_of(spark, tmp_path).items()
    }
    assert found == {1: ("old", None), 2: ("newer", "x"), 3: ("newer", "x")}
    path = DeltaSink(spark, tmp_path).path("shop.orders")
    assert _demanded(path)[1] == {"columnMapping", "timestampNtz"}


@pytest.mark.long
@pytest.mark.parametrize(("vectors", "odd"), [(True, ()), (False, ("first name",))])
def test_the_setting_decides_about_deletion_vectors(
    spark: SparkSession, tmp_path: Path, vectors: bool, odd: tuple[str, ...]
) -> None:
    path, expected = filled_copy(spark, tmp_path, odd, delta={"deletion_vectors": vectors})
    assert {row_id: row["text"] for row_id, row in copy_of(spark, tmp_path).items()} == expected
    assert ("deletionVectors" in _demanded(path)[1]) == vectors
    assert _duckdb(path) == expected


@pytest.mark.parametrize("vectors", ["auto", pytest.param(False, marks=pytest.mark.long)])
def test_a_copy_that_has_them_keeps_them_and_takes_further_batches(
    spark: SparkSession, tmp_path: Path, vectors: object
) -> None:
    path, expected = filled_copy(spark, tmp_path, delta={"deletion_vectors": True})
    before = _demanded(path)
    assert "deletionVectors" in before[1]
    assert _duckdb(path) == expected
    news = change("t", "UPDATE", "2", 50, types=TYPES, row=ROW, id="2", text="newer")
    apply(spark, tmp_path, news, number=3, delta={"deletion_vectors": vectors})
    assert {row_id: row["text"] for row_id, row in copy_of(spark, tmp_path).items()} == {
        **expected,
        2: "newer",
    }
    assert _demanded(path) == before


@pytest.mark.long
def test_a_property_that_was_set_to_false_leaves_marked_rows_gone(
    spark: SparkSession, tmp_path: Path
) -> None:
    path, expected = filled_copy(spark, tmp_path, delta={"deletion_vectors": True})
    spark.sql(
        f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')"
    )
    news = change("t", "UPDATE", "1", 50, types=TYPES, row=ROW, id="1", text="newer")
    figures = apply(spark, tmp_path, news, number=3)
    assert figures.winners == 1
    assert {row_id: row["text"] for row_id, row in copy_of(spark, tmp_path).items()} == {
        **expected,
        1: "newer",
    }

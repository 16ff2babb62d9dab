"""The example reader of HBase shows what the source has, under both guards."""

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from deploy.embedded import HBase
from tests.support.copies.spark_copies import apply, change

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
EXAMPLE = Path(__file__).parents[4] / "examples" / "read_hbase.py"


@pytest.mark.long
@pytest.mark.parametrize("guard", ["version", "check_and_mutate"])
def test_the_example_hides_deleted_rows_and_old_cells(
    spark: SparkSession, hbase: HBase, fresh_name: Callable[[str], str], tmp_path: Path, guard: str
) -> None:
    namespace = fresh_name("example")
    rows = [
        change("t", "INSERT", str(key), key, id=str(key), n="old", note="x") for key in range(1, 6)
    ]
    later = [
        change("t", "DELETE", "2", 12, id="2", n="old", note="x"),
        change("t", "UPDATE", "3", 13, id="3", n=None, note=""),
        change("t", "UPDATE", "4", 14, id="4", n="new"),
        change("t", "UPDATE", "1", 0, id="1", n="late", note="late"),
    ]
    section = {"thrift": (hbase.address,), "namespace": namespace, "guard": guard}
    for messages in (rows, later):
        apply(spark, tmp_path, *messages, sink="hbase", hbase=section)
    example = runpy.run_path(str(EXAMPLE))
    example["live_rows"].__globals__["PAGE"] = 2
    assert dict(example["live_rows"](hbase.address, f"{namespace}:shop.orders")) == {
        b"1": {"id": "1", "n": "old", "note": "x"},
        b"3": {"id": "3", "n": None, "note": ""} if guard == "version" else {"id": "3", "note": ""},
        b"4": {"id": "4", "n": "new"},
        b"5": {"id": "5", "n": "old", "note": "x"},
    }

"""Copies are kept by one rule: orders of two rules say nothing of each other."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_jobs.errors import CopiesKeptOtherwise
from tests.support.copies.spark_copies import apply, change, copies, copy_of

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
NOTE = "_kept"


def test_a_job_of_another_rule_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    apply(spark, tmp_path, change("t", "INSERT", "1", 1, id="1"))
    assert (tmp_path / NOTE).read_text(encoding="utf-8") == "row by row"
    with pytest.raises(
        CopiesKeptOtherwise,
        match=r"kept row by row, and the job would keep them by binlog offsets .*row_images",
    ):
        copies(spark, tmp_path, raw_rule=True)
    with pytest.raises(CopiesKeptOtherwise, match="would keep them column by column"):
        copies(spark, tmp_path, row_images="merge")
    apply(spark, tmp_path, change("t", "DELETE", "1", 2, id="1"))
    assert copy_of(spark, tmp_path) == {}


@pytest.mark.parametrize(
    "left", ["", None], ids=["a crash left the note empty", "copies of before there were notes"]
)
def test_where_no_rule_is_noted_the_job_notes_its_own(
    spark: SparkSession, tmp_path: Path, left: str | None
) -> None:
    if left is not None:
        (tmp_path / NOTE).write_text(left, encoding="utf-8")
    copies(spark, tmp_path, raw_rule=True)
    assert (tmp_path / NOTE).read_text(encoding="utf-8") == "by binlog offsets (raw_rule = true)"
    copies(spark, tmp_path, raw_rule=True)
    with pytest.raises(CopiesKeptOtherwise):
        copies(spark, tmp_path)

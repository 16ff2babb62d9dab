"""Large batches as files that HBase takes over whole: the same cells as puts, each region its own,
and failures by name.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from time import time
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from deploy.embedded import HBase
from spark_jobs.config.hbase import HBaseSettings
from spark_jobs.errors import HBaseStagingRefused
from spark_jobs.hbase import java_files
from spark_jobs.hbase.gateway import Gateway
from spark_jobs.hbase.java_client import JavaClient, run
from spark_jobs.hbase.java_files import JavaFiles
from spark_jobs.hbase.tables import Tables
from spark_jobs.spark_util.error_translation import named_errors
from tests.support.copies.hbase_rows import SHAPE, TABLE, Row, cells, one_row, rows

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


@pytest.fixture
def section(hbase: HBase, fresh_name: Callable[[str], str], tmp_path: Path) -> Mapping[str, object]:
    way = {
        "thrift": (hbase.address,),
        "namespace": fresh_name("files"),
        "client": "jvm",
        "quorum": (hbase.quorum,),
    }
    return {
        **way,
        "salt_buckets": 7,
        "writers": 4,
        "files": {"staging": (tmp_path / "staging").as_uri(), "from_rows": 3},
    }


def opened(spark: SparkSession, section: HBaseSettings) -> JavaFiles:
    assert section.files is not None
    return JavaFiles(spark, section, section.files)


def test_files_hold_the_cells_of_puts_by_region(
    spark: SparkSession, section: Mapping[str, object], tmp_path: Path
) -> None:
    checked = HBaseSettings.model_validate(section)
    files, starts = opened(spark, checked), {TABLE: [b"", bytes([3]), bytes([5, 50])]}
    with Gateway(checked) as gateway:
        tables = Tables(gateway, checked)
        ours, theirs = tables.ensure("shop.files"), tables.ensure("shop.puts")

        @settings(
            max_examples=2,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(st.lists(rows, min_size=100, max_size=150, unique_by=lambda row: row[1]))
        def write_and_compare(given_rows: list[Row]) -> None:
            frame = spark.createDataFrame(given_rows, SHAPE)
            whole = files.write(frame.coalesce(1), {TABLE: ours}, starts)
            spread = files.write(frame.repartition(5), {TABLE: ours}, starts)
            assert (
                sum(count for _, count in whole)
                == sum(count for _, count in spread)
                == len(given_rows)
            )
            assert (len(whole), len(spread)) == (3, 6), (
                "a file for each region; for each of its pieces"
            )
            JavaClient(spark, checked).write(frame, {TABLE: theirs})
            assert cells(gateway, ours) == cells(gateway, theirs) != {}

        write_and_compare()
    assert list((tmp_path / "staging").iterdir()) == []


def test_a_folder_that_cannot_be_written_to_is_named(
    spark: SparkSession, section: Mapping[str, object], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    checked = HBaseSettings.model_validate(
        {**section, "files": {"staging": (tmp_path / "file" / "staging").as_uri()}}
    )
    with Gateway(checked) as gateway:
        name = Tables(gateway, checked).ensure(TABLE)
    with pytest.raises(HBaseStagingRefused, match="file/staging"), named_errors("tests"):
        opened(spark, checked).write(one_row(spark), {TABLE: name}, {TABLE: [b""]})


def test_files_that_the_driver_does_not_see_are_named(
    spark: SparkSession, section: Mapping[str, object], tmp_path: Path
) -> None:
    """A folder on each executor's own disk: nothing may count as written that HBase never got."""
    checked, remove = (
        HBaseSettings.model_validate(section),
        partial(shutil.rmtree, tmp_path / "staging"),
    )
    with Gateway(checked) as gateway:
        name = Tables(gateway, checked).ensure(TABLE)
    with (
        patch.object(
            java_files, "run", side_effect=lambda rows, task: (run(rows, task), remove())[0]
        ),
        pytest.raises(HBaseStagingRefused, match="staging"),
        named_errors("tests"),
    ):
        opened(spark, checked).write(one_row(spark), {TABLE: name}, {TABLE: [b""]})


def test_a_folder_that_hbase_does_not_know_is_named(
    spark: SparkSession, section: Mapping[str, object], tmp_path: Path
) -> None:
    """The job's Hadoop has a name for the folder that HBase's has not."""
    options = {"fs.viewfs.mounttable.jobs.link./staging": (tmp_path / "staging").as_uri()}
    changed = {
        **section,
        "patience_seconds": 5,
        "client_options": options,
        "files": {"staging": "viewfs://jobs/staging"},
    }
    checked = HBaseSettings.model_validate(changed)
    (tmp_path / "staging").mkdir()
    with Gateway(checked) as gateway:
        name = Tables(gateway, checked).ensure(TABLE)
    with pytest.raises(HBaseStagingRefused, match="viewfs://jobs/staging"), named_errors("tests"):
        opened(spark, checked).write(one_row(spark), {TABLE: name}, {TABLE: [b""]})


def test_what_killed_jobs_left_goes_after_a_day(
    spark: SparkSession, section: Mapping[str, object], tmp_path: Path
) -> None:
    files = opened(spark, HBaseSettings.model_validate(section))
    files.tidy()  # there is no folder yet
    for name, age_s in (("old", 25 * 3600), ("young", 3600)):
        (tmp_path / "staging" / name / "info").mkdir(parents=True)
        os.utime(tmp_path / "staging" / name, (time() - age_s,) * 2)
    files.tidy()
    assert [each.name for each in (tmp_path / "staging").iterdir()] == ["young"]

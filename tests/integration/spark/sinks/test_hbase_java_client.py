"""Rows that Spark's executors write with HBase's own client: the same cells as through the gateway,
and failures by name.
"""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from deploy.embedded import HBase
from spark_jobs.config.hbase import HBaseSettings
from spark_jobs.errors import HBaseRefused, HBaseUnreachable
from spark_jobs.hbase.gateway import Gateway
from spark_jobs.hbase.java_client import JavaClient
from spark_jobs.hbase.tables import Tables
from spark_jobs.hbase.task import write_changes
from spark_jobs.spark_util.error_translation import named_errors
from tests.support.copies.hbase_rows import SHAPE, TABLE, Row, cells, one_row, rows

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


@pytest.fixture(params=["version", "check_and_mutate"])
def section(
    request: pytest.FixtureRequest, hbase: HBase, fresh_name: Callable[[str], str]
) -> HBaseSettings:
    given_settings = {
        "thrift": (hbase.address,),
        "namespace": fresh_name("java"),
        "guard": request.param,
        "salt_buckets": 7,
    }
    return HBaseSettings.model_validate(
        {**given_settings, "client": "jvm", "quorum": (hbase.quorum,), "rows_per_call": 16}
    )


def test_both_clients_write_the_same_cells(spark: SparkSession, section: HBaseSettings) -> None:
    with Gateway(section) as gateway:
        tables = Tables(gateway, section)
        ours, theirs = tables.ensure("shop.jvm"), tables.ensure("shop.thrift2")

        @settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
        @given(st.lists(rows, min_size=60, max_size=120, unique_by=lambda row: row[1]))
        def write_and_compare(drawn: list[Row]) -> None:
            frame = spark.createDataFrame(drawn, SHAPE)
            JavaClient(spark, section).write(frame, {TABLE: ours})
            list(write_changes(section, {TABLE: theirs}, 0, frame.toJSON().collect()))
            assert cells(gateway, ours) == cells(gateway, theirs) != {}

        write_and_compare()


def test_hbase_that_is_away_or_refuses_is_named(
    spark: SparkSession, section: HBaseSettings
) -> None:
    away = section.model_copy(update={"quorum": ("127.0.0.1:1",), "patience_seconds": 1})
    with (
        pytest.raises(
            HBaseUnreachable, match=r"does not answer through the ZooKeeper at 127\.0\.0\.1:1:"
        ),
        named_errors("tests"),
    ):
        JavaClient(spark, away).write(one_row(spark), {TABLE: b"default:nowhere"})
    with pytest.raises(HBaseRefused, match="nowhere"), named_errors("tests"):
        JavaClient(spark, section).write(one_row(spark), {TABLE: b"default:nowhere"})

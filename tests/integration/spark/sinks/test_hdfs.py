"""A job whose places lie on HDFS, under users of their own: its copies and notes, and the files
that HBase takes over.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from deploy.embedded import HBase, Hdfs, Kafka
from deploy.embedded.processes.jvm import QUICK_START
from relay.envelope import order_text
from spark_jobs.config.hbase import HBaseSettings
from spark_jobs.errors import HBaseStagingRefused
from spark_jobs.hbase.gateway import Gateway
from spark_jobs.hbase.java_client import JavaClient
from spark_jobs.hbase.java_files import JavaFiles
from spark_jobs.hbase.tables import Tables
from spark_jobs.sinks import live_rows, open_sink
from spark_jobs.spark_util.error_translation import named_errors
from spark_jobs.spark_util.jvm import java_class
from tests.servers.availability import require
from tests.servers.running import running
from tests.support.copies.hbase_rows import SHAPE, TABLE, cells, one_row
from tests.support.copies.spark_copies import change, drain, job, publish

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")


@pytest.fixture(scope="module")
def hdfs() -> Iterator[Hdfs]:
    require(Hdfs)
    with running(Hdfs(jvm_options=QUICK_START)) as server:
        yield server


@pytest.fixture(scope="module")
def hbase_on_hdfs(hdfs: Hdfs, spark: SparkSession) -> Iterator[HBase]:
    """It knows the cluster by its name, and Spark does, as with `--conf
    spark.hadoop.dfs.nameservices=…`.
    """
    require(HBase)
    options = java_class(spark, "org.apache.spark.SparkEnv").get().conf()  # of everybody's session
    with ExitStack() as stack:
        for option, value in hdfs.client_settings.items():
            options.set(f"spark.hadoop.{option}", str(value))
            stack.callback(options.remove, f"spark.hadoop.{option}")
        yield stack.enter_context(running(HBase(hdfs=hdfs, jvm_options=QUICK_START)))


@pytest.fixture
def section(
    hdfs: Hdfs, hbase_on_hdfs: HBase, fresh_name: Callable[[str], str]
) -> Mapping[str, object]:
    """The files are for nobody else to read or write, as where the umask is strict."""
    own = fresh_name("files")
    return {
        "thrift": (hbase_on_hdfs.address,),
        "namespace": own,
        "client": "jvm",
        "quorum": (hbase_on_hdfs.quorum,),
        "client_options": {"fs.permissions.umask-mode": "077"},
        "files": {"staging": f"{hdfs.named_uri}/{own}", "from_rows": 1},
    }


@pytest.mark.long
@pytest.mark.parametrize("sink", ["delta", pytest.param("parquet", marks=pytest.mark.long)])
def test_copies_history_and_checkpoint_lie_on_hdfs(
    kafka: Kafka,
    spark: SparkSession,
    hdfs: Hdfs,
    fresh_name: Callable[[str], str],
    tmp_path: Path,
    sink: str,
) -> None:
    topic = fresh_name("orders")
    places = {
        "copy_root": f"{hdfs.uri}/{topic}/copies",
        "checkpoint": f"{hdfs.uri}/{topic}/checkpoint",
    }
    settings = job(kafka, topic, tmp_path).model_copy(
        update={**places, "sink": sink, "history": True}
    )
    publish(
        kafka, topic, *(change(topic, "INSERT", key, int(key), id=key, n="old") for key in "123")
    )
    drain(settings)
    publish(
        kafka,
        topic,
        change(topic, "UPDATE", "1", 4, id="1", n="new"),
        change(topic, "DELETE", "2", 5, id="2", n="old"),
    )
    drain(settings)
    found = open_sink(spark, settings).read("shop.orders")
    assert found is not None
    assert {row["id"]: row["n"] for row in live_rows(found).collect()} == {"1": "new", "3": "old"}
    assert sorted(hdfs.paths(f"/{topic}/checkpoint/commits")) == ["0", "1"]


@pytest.mark.long
def test_hbase_takes_over_files_of_another_user(
    spark: SparkSession, hdfs: Hdfs, section: Mapping[str, object]
) -> None:
    checked = HBaseSettings.model_validate(section)
    assert checked.files is not None
    given = [
        (TABLE, f'["{TABLE}","{number}"]', order_text(number, 1), False, {"n": "x" * number})
        for number in range(50)
    ]
    frame = spark.createDataFrame(given, SHAPE)
    with Gateway(checked) as gateway:
        tables = Tables(gateway, checked)
        ours, theirs = tables.ensure("shop.files"), tables.ensure("shop.puts")
        JavaFiles(spark, checked, checked.files).write(frame, {TABLE: ours}, {TABLE: [b""]})
        JavaClient(spark, checked).write(frame, {TABLE: theirs})
        assert cells(gateway, ours) == cells(gateway, theirs)
        assert len(cells(gateway, ours)) == len(given)
    assert hdfs.paths(f"/{checked.namespace}") == []


@pytest.mark.long
def test_a_folder_that_the_job_may_not_write_to_is_named(
    spark: SparkSession, hdfs: Hdfs, section: Mapping[str, object]
) -> None:
    refused = {"staging": f"{hdfs.named_uri}/hbase/roma", "from_rows": 1}
    checked = HBaseSettings.model_validate({**section, "patience_seconds": 5, "files": refused})
    assert checked.files is not None
    with Gateway(checked) as gateway:
        name = Tables(gateway, checked).ensure(TABLE)
    with (
        pytest.raises(HBaseStagingRefused, match="Permission denied: user="),
        named_errors("tests"),
    ):
        JavaFiles(spark, checked, checked.files).write(
            one_row(spark), {TABLE: name}, {TABLE: [b""]}
        )

"""One Spark session for all tests of the jobs: it takes longer to start than most of them take to
run.
"""

import os
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from deploy.embedded import hbase_client_jars, spark_environment, spark_jars
from spark_jobs.config.job import JobSettings, KafkaSource
from spark_jobs.runtime.spark_session import open_spark

WITHOUT_CODE_GENERATION = (
    "-Dspark.sql.codegen.wholeStage=false",
    "-Dspark.sql.codegen.factoryMode=NO_CODEGEN",
)
"""Of a few rows, compiling Java for each query took a quarter of the CPU. Jobs that run as
processes generate code, as operators do."""
WITHOUT_PLANNING_AGAIN = "-Dspark.sql.adaptive.enabled=false"
"""Planning again after each stage took an eighth of the CPU of a small batch. Jobs that run as
processes do it."""


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session that the jobs would open, with the pinned jars."""
    # One JVM serves all files, and Spark keeps what it knows of its last thousand queries: 1 GB
    # would be too little.
    os.environ.update({"SPARK_DRIVER_MEMORY": "2g", **spark_environment()})
    source = KafkaSource(bootstrap_servers="127.0.0.1:1", topics=("none",))
    jars = spark_jars() + hbase_client_jars()
    settings = JobSettings(
        kafka=source,
        copy_root=str(tmp_path_factory.mktemp("copy")),
        jars=jars,
        jvm_options=" ".join((*WITHOUT_CODE_GENERATION, WITHOUT_PLANNING_AGAIN)),
        shuffle_partitions=1,
    )
    session = open_spark(settings, "tests")
    yield session
    session.stop()

"""Starts the Spark session of the jobs, with Delta, Kafka and UTC.

If this process starts Spark's JVM, it also checks the JDK. With a local master it then binds Spark
to loopback.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from spark_jobs.config.hbase import HBASE_CLIENT
from spark_jobs.config.job import JobSettings
from spark_jobs.errors import JavaRefused
from spark_jobs.runtime.jars import check_jars, check_submitted
from spark_jobs.spark_util.jvm import PYTHON_UTILS, keep_class

_JDKS: Final = (17, 21)
# One set that resolves whole; newer connectors miss their token provider in some registries.
_PACKAGES: Final = ",".join(
    (
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0",
        "io.delta:delta-spark_2.13:4.0.0",
        "org.mariadb.jdbc:mariadb-java-client:3.5.6",
    )
)
# Dependencies of the packages that Spark already contains, some in other versions.
_OF_SPARK: Final = (
    "org.apache.hadoop:*,com.fasterxml.jackson.core:*,org.slf4j:slf4j-api,commons-logging:*,commons-codec:*,org.apache.httpcomponents:*,"
    "org.javassist:*,jakarta.*:*,org.glassfish.*:*"
)
_SETTINGS: Final = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
    "spark.databricks.delta.snapshotPartitions": "1",
    # A commit lists all files of its table up to this number; above it, a Spark job collects
    # them. Delta's own limit is 50.
    "spark.databricks.delta.allFilesInCrc.thresholdNumFiles": "1000",
    # Bounds of keys begin with the table's name and must include a part of the key; Delta's
    # own limit is 32 characters.
    "spark.databricks.io.skipping.stringPrefixLength": "96",
    # VACUUM lists files in as many tasks; Spark's own number is ten thousand.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
    # Keys of a batch are looked up in a copy. Above this, Spark sorts the copy for it, which costs
    # many times that; its own limit is 10 MB.
    "spark.sql.autoBroadcastJoinThreshold": "64m",
    # A batch is cached for seconds; choosing the best compression of each column took a
    # tenth of all CPU.
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # A batch is read from the cache, and a lost piece of it again from fixed offsets: writing it
    # down first would only cost.
    "spark.databricks.delta.merge.materializeSource": "none",
    # Otherwise each call from Python sends its line to the JVM first, for error messages.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # A batch of one table uses about a hundred generated classes. Spark's own limit is 100: it
    # compiled most of them again for each batch.
    "spark.sql.codegen.cache.maxEntries": "1000",
}
_LOCAL_LOG_STORE: Final = {"spark.delta.logStore.file.impl": "io.delta.storage.LocalLogStore"}
_CALLED_MOST: Final = (
    "org.apache.spark.sql.functions",
    PYTHON_UTILS,
    "org.apache.spark.sql.api.python.PythonSQLUtils",
)
"""Classes that PySpark itself calls for each column. Without them in this process, a third of all
calls to the JVM were searches for them."""
# No other host connects to this process, and the host name may not resolve.
_ON_THIS_MACHINE: Final = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
}
# Without the second compiler the JVM would keep 48 MB for compiled code, which Spark fills in
# minutes and then compiles again.
_JVM_OPTIONS: Final = "-XX:+UseParallelGC -XX:ReservedCodeCacheSize=240m"
# The second compiler takes a core for the first minutes. A job that ends by itself waits for it and
# is over before it pays back.
_FIRST_COMPILER_ONLY: Final = "-XX:TieredStopAtLevel=1"


def open_spark(
    settings: JobSettings, name: str, *, trace: bool = False, lasts: bool = False
) -> SparkSession:
    """Start Spark and return its session.

    name   name of the application
    trace  whether Spark's log shows errors
    lasts  whether the job runs until it is stopped, so that its JVM is optimised for speed instead
           of a quick start

    Raises JavaRefused and JarsRefused, because Spark reports these errors less clearly.
    """
    builder = SparkSession.Builder().appName(name)
    for key, value in configuration(settings, lasts=lasts).items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    check_submitted(session)
    for each in _CALLED_MOST:
        keep_class(session, each)
    _spare_programs(session)
    session.sparkContext.setLogLevel("ERROR" if trace else "OFF")
    return session


def local_log_store(told: Collection[str]) -> Mapping[str, str]:
    """Return the settings by which Delta writes its log to local disks.

    told  names of the settings in Spark's configuration; if one of them already configures the log
          store, the result is empty, because Delta refuses settings for one scheme and for all
          schemes together

    Delta's own default starts eight programs for each commit, to check that no file is a link.
    """
    return {} if any("delta.logStore." in name for name in told) else _LOCAL_LOG_STORE


def _spare_programs(session: SparkSession) -> None:
    """Set the log store here, because only the session has the whole configuration, with
    spark-submit's settings and files.
    """
    context: Any = session.sparkContext
    for name, value in local_log_store([name for name, _ in context.getConf().getAll()]).items():
        context._jsc.sc().conf().set(name, value)  # noqa: SLF001


def configuration(settings: JobSettings, *, lasts: bool) -> Mapping[str, str]:
    """Return the job's settings of Spark. `lasts` is as in `open_spark`.

    If spark-submit started the JVM, its own arguments apply to JVM, jars and network.
    """
    configuration = {**_SETTINGS, "spark.sql.shuffle.partitions": str(settings.shuffle_partitions)}
    if settings.master is not None:
        configuration["spark.master"] = settings.master
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return configuration
    check_java()
    options = (_JVM_OPTIONS, "" if lasts else _FIRST_COMPILER_ONLY, settings.jvm_options)
    own = {"spark.driver.extraJavaOptions": " ".join(filter(None, options)), **_jars(settings)}
    local = _ON_THIS_MACHINE if (settings.master or "local").startswith("local") else {}
    return {**configuration, **own, **local}


def check_java() -> None:
    """Raise JavaRefused if the JDK that Spark will use is missing or has a version without
    support.
    """
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None:
        raise JavaRefused("No java program was found. Install a JDK 17 or 21, or set JAVA_HOME.")
    try:
        answer = subprocess.run(  # noqa: S603
            [java, "-version"], capture_output=True, text=True, timeout=30, check=False
        ).stderr
    except OSError as exc:
        raise JavaRefused(
            f"{java} cannot be run ({exc.strerror}). Set JAVA_HOME to a JDK 17 or 21."
        ) from exc
    found = re.search(r'version "(\d+)', answer)
    if found is None or int(found[1]) not in _JDKS:
        raise JavaRefused(
            f"{java} is {answer.splitlines()[0] if answer else 'of an unknown version'}; Spark 4.0 "
            f"needs JDK 17 or 21. Set JAVA_HOME."
        )


def _jars(settings: JobSettings) -> dict[str, str]:
    """Pinned jars where they are given, else the packages, resolved by Spark at its start."""
    if settings.jars:
        check_jars(settings.jars)
        return {"spark.jars": ",".join(path.as_uri() for path in settings.jars)}
    with_client = settings.hbase is not None and settings.hbase.client == "jvm"
    return {
        "spark.jars.packages": f"{_PACKAGES},{HBASE_CLIENT}" if with_client else _PACKAGES,
        "spark.jars.excludes": _OF_SPARK,
    }

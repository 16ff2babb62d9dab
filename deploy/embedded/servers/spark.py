"""Jars for Spark beside PySpark, and an environment that does not depend on the machine."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from deploy.embedded.fetching.ivy import pyspark_jars
from deploy.embedded.fetching.jars import jars
from deploy.embedded.processes.class_archive import archive_options
from deploy.embedded.processes.java import find_java
from deploy.embedded.processes.ports import HOST

SPARK_CLASSES: Final = Path(sys.prefix) / "classes"
"""The folder of the archive of Spark's classes: it is valid for the jars of this environment only,
and is removed with it.
"""


def spark_jars() -> tuple[Path, ...]:
    """Return the Kafka source and Delta with what they need, for the setting `spark.jars`.

    Fetched when missing.
    """
    return tuple(sorted(jars("spark").glob("*.jar")))


def spark_environment() -> Mapping[str, str]:
    """Return the variables to set before Spark starts: the right JDK, loopback instead of a host
    name that may not resolve, UTC, and the archive of Spark's classes, if there is one.
    """
    return {
        "SPARK_SUBMIT_OPTS": _archive_options(),
        "JAVA_HOME": str(find_java().home),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_LOCAL_HOSTNAME": "localhost",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "TZ": "UTC",
    }


def spark_classpath() -> str:
    """Return a text that identifies the jars of PySpark: their folder and when it was made."""
    folder = pyspark_jars()
    return f"{folder} {folder.stat().st_mtime_ns}"


def _archive_options() -> str:
    """Return the JVM options of the environment, with those of the archive. The JVM's own log is
    off, because it writes to the program's output that it ignores an archive of another class path.
    """
    present = os.environ.get("SPARK_SUBMIT_OPTS", "")
    options = archive_options(spark_classpath(), SPARK_CLASSES)
    own = " ".join((*options, "-Xlog:disable")) if options else ""
    return present if own in present else f"{present} {own}".strip()

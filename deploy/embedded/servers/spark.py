"""Jars for Spark beside PySpark, and an environment that does not depend on the machine."""

import sys
from collections.abc import Mapping
from pathlib import Path

from deploy.embedded.fetching.jars import jars
from deploy.embedded.processes.java import find_java
from deploy.embedded.processes.ports import HOST


def spark_jars() -> tuple[Path, ...]:
    """Return the Kafka source and Delta with what they need, for the setting `spark.jars`.

    Fetched when missing.
    """
    return tuple(sorted(jars("spark").glob("*.jar")))


def spark_environment() -> Mapping[str, str]:
    """Return the variables to set before Spark starts: the right JDK, loopback instead of a host
    name that may not resolve, UTC.
    """
    return {
        "JAVA_HOME": str(find_java().home),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_LOCAL_HOSTNAME": "localhost",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "TZ": "UTC",
    }

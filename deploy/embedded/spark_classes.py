"""Makes an archive of Spark's classes by running a small job once; Spark starts faster with it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from deploy.embedded.errors import Unavailable
from deploy.embedded.fetching.ivy import pyspark_jars
from deploy.embedded.processes.class_archive import REMEDY, make_archive
from deploy.embedded.servers.spark import SPARK_CLASSES, spark_classpath, spark_environment

_PROGRAM: Final = "deploy.embedded.spark_job"
_LIMIT_S: Final = 300.0
_SHOWN: Final = 500
"""So many characters of a failed job's output are shown."""


def archive_spark() -> str:
    """Make the archive of Spark's classes if it is missing; return the size of the file.

    No archive is made in a folder with a space, because JDK 17 would archive only the JDK's own
    classes, and if SPARK_HOME names another Spark. Raises Unavailable.
    """
    if "SPARK_HOME" in os.environ:
        return "no archive, because SPARK_HOME names another Spark than that of the environment"
    if " " in f"{pyspark_jars().resolve()}{SPARK_CLASSES}":
        return "no archive, because a folder of the environment has a space in its name"
    file = make_archive(spark_classpath(), _run, SPARK_CLASSES)
    return f"an archive of {file.stat().st_size // 1_000_000} MB"


def _run(options: tuple[str, ...]) -> None:
    environment = {**os.environ, **spark_environment(), "SPARK_SUBMIT_OPTS": " ".join(options)}
    command = [sys.executable, "-m", _PROGRAM]
    root = Path(__file__).parents[2]
    try:
        ran = subprocess.run(
            command,
            env=environment,
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
            timeout=_LIMIT_S,
        )
    except subprocess.TimeoutExpired as exc:
        raise Unavailable(f"The Spark job whose classes are archived: {exc}.", REMEDY) from exc
    if ran.returncode:
        end = ran.stderr.strip()[-_SHOWN:]
        raise Unavailable(f"The Spark job whose classes are archived failed: {end}", REMEDY)

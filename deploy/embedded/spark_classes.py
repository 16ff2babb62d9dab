"""Makes an archive of Spark's classes by running a small job once; Spark starts faster with it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from deploy.embedded.errors import Unavailable
from deploy.embedded.processes.class_archive import make_archive
from deploy.embedded.servers.spark import SPARK_CLASSES, spark_classpath, spark_environment

_PROGRAM: Final = "deploy.embedded.spark_job"
_LIMIT_S: Final = 300.0


def archive_spark() -> str:
    """Make the archive of Spark's classes if it is missing; return the size of the file.

    In a folder with a space, no archive is made: JDK 17 would archive only the JDK's own classes.
    Raises Unavailable.
    """
    if " " in spark_classpath().rsplit(" ", 1)[0] or " " in str(SPARK_CLASSES):
        return "no archive, because a folder of the environment has a space in its name"
    file = make_archive(spark_classpath(), _run, SPARK_CLASSES)
    return f"an archive of {file.stat().st_size // 1_000_000} MB"


def _run(options: tuple[str, ...]) -> None:
    environment = {**os.environ, **spark_environment(), "SPARK_SUBMIT_OPTS": " ".join(options)}
    command = [sys.executable, "-m", _PROGRAM]
    root = Path(__file__).parents[2]
    try:
        subprocess.run(
            command, env=environment, cwd=root, capture_output=True, check=True, timeout=_LIMIT_S
        )
    except subprocess.SubprocessError as exc:
        raise Unavailable(
            f"The Spark job whose classes are archived failed: {exc}.",
            "Spark starts without the archive, more slowly; run `make fetch` to try again.",
        ) from exc

"""The dedup stream as operators run it: a process with a configuration file, its JVM as its
child.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyspark
import tomli_w

from deploy.embedded import spark_environment, spark_jars
from spark_jobs import dedup_stream
from spark_jobs.config.job import JobSettings


def spark_submit(program: str) -> tuple[Sequence[str], Mapping[str, str]]:
    """Return the command that gives a program to Spark as a cluster's users do, and the environment
    that it needs.
    """
    home = Path(pyspark.__file__).parent
    options = (
        "--master",
        "local[2]",
        "--driver-java-options",
        "-XX:TieredStopAtLevel=1",
        "--jars",
        ",".join(map(str, spark_jars())),
    )
    return (str(home / "bin" / "spark-submit"), *options, program), {
        "SPARK_HOME": str(home),
        "PYTHONPATH": str(Path(dedup_stream.__file__).parents[1]),
    }


class JobProcess:
    """One process of the job, or of another `program` that takes its arguments.

    A context manager that ends the process and removes its files.
    """

    def __init__(
        self, settings: JobSettings, folder: Path, *program: str, **environment: str
    ) -> None:
        document = {
            **settings.model_dump(mode="json", exclude_none=True),
            "jars": [str(jar) for jar in settings.jars or spark_jars()],
        }
        if settings.mirror is not None:
            document["mirror"]["password"] = settings.mirror.password.get_secret_value()
        config = folder / "job.toml"
        config.write_text(tomli_w.dumps(document), encoding="utf-8")
        self._output, self._errors = folder / "job.out", folder / "job.err"
        self._command = [
            *(program or (sys.executable, "-m", "spark_jobs.dedup_stream")),
            "--config",
            str(config),
        ]
        self._environment = {**os.environ, **spark_environment(), **environment}

    def __enter__(self) -> "JobProcess":
        with self._output.open("wb") as output, self._errors.open("wb") as errors:
            self._child = subprocess.Popen(
                self._command,
                stdout=output,
                stderr=errors,
                env=self._environment,
                start_new_session=True,
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._child.poll() is None:
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait(30)

    @property
    def running(self) -> bool:
        return self._child.poll() is None

    @property
    def output(self) -> str:
        """Return the figures that it has printed."""
        return self._output.read_text(encoding="utf-8")

    @property
    def errors(self) -> str:
        """Return its standard error, including the lines of Spark's start."""
        return self._errors.read_text(encoding="utf-8", errors="replace")

    def ask_to_end(self) -> None:
        """Send SIGTERM to the job alone, as a service manager does to the main process."""
        self._child.terminate()

    def kill(self) -> None:
        """Send SIGKILL to the job and its JVM, as at the loss of a machine; return when the process
        has ended.
        """
        os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait(30)

    def wait(self, seconds: float = 120) -> int:
        """Wait for the end of the process; return the exit code, negative for a signal."""
        return self._child.wait(seconds)

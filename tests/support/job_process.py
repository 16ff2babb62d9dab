"""The dedup stream as operators run it: a process with a configuration file, its JVM as its child."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import tomli_w

from deploy.embedded import spark_environment, spark_jars
from spark_jobs.settings import JobSettings


class JobProcess:
    """One process of the job; a context manager that leaves neither it nor its JVM behind."""

    def __init__(self, settings: JobSettings, folder: Path, *, module: str = "spark_jobs.dedup_stream", **environment: str) -> None:
        document = settings.model_dump(mode="json", exclude_none=True) | {"jars": [str(jar) for jar in spark_jars()]}
        config = folder / "job.toml"
        config.write_text(tomli_w.dumps(document), encoding="utf-8")
        self._output, self._errors = folder / "job.out", folder / "job.err"
        self._command = [sys.executable, "-m", module, "--config", str(config)]
        self._environment = {**os.environ, **spark_environment(), **environment}

    def __enter__(self) -> "JobProcess":
        with self._output.open("wb") as output, self._errors.open("wb") as errors:
            self._child = subprocess.Popen(self._command, stdout=output, stderr=errors, env=self._environment, start_new_session=True)
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
        """The figures that it has printed."""
        return self._output.read_text(encoding="utf-8")

    @property
    def errors(self) -> str:
        """What it has complained of, Spark's start included."""
        return self._errors.read_text(encoding="utf-8", errors="replace")

    def ask_to_end(self) -> None:
        """SIGTERM to the job alone, as a service manager sends it to the main process."""
        self._child.terminate()

    def wait(self, seconds: float = 120) -> int:
        """Wait for its end; the exit code, negative for a signal."""
        return self._child.wait(seconds)

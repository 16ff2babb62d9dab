"""The dedup stream, killed between its two commits: `python -m tests.support.copies.crashing_job
--config job.toml`.

The copies then have the whole batch, and the checkpoint does not list it yet. The function that the
job calls there is wrapped before the start; the code of the job is unchanged. The kill takes the
whole process group, JVM included, as the loss of a machine does.
"""

import os
import signal
import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar
from unittest.mock import patch

from spark_jobs import dedup_stream
from spark_jobs.apply.apply import Copies

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def crash_after(call: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Return a wrapper that makes the call and then kills the process group."""

    @wraps(call)
    def crashing(*arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
        call(*arguments, **named)
        os.killpg(0, signal.SIGKILL)
        raise AssertionError("unreachable")

    return crashing


def main() -> int:
    patch.object(Copies, "apply", crash_after(Copies.apply)).start()
    return dedup_stream.main()


if __name__ == "__main__":
    sys.exit(main())

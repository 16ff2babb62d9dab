"""The dedup stream, killed between its two commits: `python -m tests.support.copies.crashing_job
--config job.toml`.

All of the batch is in the copies then, and the checkpoint does not know yet. What the job calls
there is wrapped before it starts; the job itself knows nothing of it. The kill takes the whole
process group, JVM included, as the loss of a machine does.
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
    """Let the call happen; what it returns nobody learns."""

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

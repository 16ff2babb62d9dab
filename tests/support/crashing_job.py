"""The dedup stream, killed at a chosen step of a batch: `python -m tests.support.crashing_job --config job.toml`.

`ROMA_CRASH` names the step. What the job calls there is wrapped before it starts; the job itself knows nothing of it. The kill
takes the whole process group, JVM included, as the loss of a machine does.

- `table_merged`: one table of the batch is merged, the others are not
- `batch_applied`: all of the batch is in the copies, the checkpoint does not know yet
"""

import os
import signal
import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar
from unittest.mock import patch

from spark_jobs import dedup_stream
from spark_jobs.apply import Copies
from spark_jobs.sinks import DeltaSink

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
    match os.environ["ROMA_CRASH"]:
        case "table_merged":
            patch.object(DeltaSink, "merge", crash_after(DeltaSink.merge)).start()
        case "batch_applied":
            patch.object(Copies, "apply", crash_after(Copies.apply)).start()
    return dedup_stream.main()


if __name__ == "__main__":
    sys.exit(main())

"""Points at which tests end the process as a crash would: `ROMA_JOB_FAULT=table_merged` in the environment."""

import os
import signal
from enum import StrEnum


class Fault(StrEnum):
    """Where."""

    TABLE_MERGED = "table_merged"
    """One table of the batch is merged, the others are not."""

    BATCH_APPLIED = "batch_applied"
    """All of the batch is in the copies, the checkpoint does not know yet."""


def reached(fault: Fault) -> None:
    """End the whole process group, the JVM with it, if the environment asks for it here; else do nothing."""
    if os.environ.get("ROMA_JOB_FAULT") == fault:
        os.killpg(0, signal.SIGKILL)

"""CPU seconds of a job and of what it starts."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Final

import pytest

from tools.bench.measuring.usage import CpuMeter

# Nobody waits for the child, so that the kernel forgets its seconds with it.
_JOB: Final = """
import signal, subprocess, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
burns = "import time\\nwhile time.process_time() < 0.3: pass\\nprint(flush=True)\\ninput()"
pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
child = subprocess.Popen([sys.executable, "-c", burns], **pipes, text=True)
child.stdout.readline()
print(child.pid, flush=True)
input()
child.communicate("")
print(flush=True)
input()
"""


@pytest.fixture
def job() -> Iterator["subprocess.Popen[str]"]:
    """A process that starts another one, and then lives on without it."""
    with subprocess.Popen(
        [sys.executable, "-c", _JOB], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as job:
        yield job
        job.kill()


def told(job: "subprocess.Popen[str]") -> str:
    assert job.stdout is not None
    return job.stdout.readline().strip()


def go_on(job: "subprocess.Popen[str]") -> None:
    assert job.stdin is not None
    job.stdin.write("\n")
    job.stdin.flush()


def test_a_child_that_is_gone_stays_counted(job: "subprocess.Popen[str]") -> None:
    meter = CpuMeter({"job": job.pid})
    told(job)
    meter.sample()
    used = meter.seconds["job"]
    assert used >= 0.25
    go_on(job)
    told(job)
    meter.sample()
    assert meter.seconds["job"] >= used


def test_a_child_that_is_watched_for_itself_does_not_count_to_who_started_it(
    job: "subprocess.Popen[str]",
) -> None:
    child = int(told(job))
    meter = CpuMeter({"job": job.pid, "child": child})
    meter.sample()
    assert meter.seconds["child"] < 0.25, "what was used before does not count"
    go_on(job)
    told(job)
    meter.sample()
    assert meter.seconds["job"] < 0.25

"""Processes of workers whose parent has died, or whose output nobody reads. Their relay is a
function.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.relays.worker_relay import is_alive
from tests.support.waiting import wait_until

_PARENT = """
import os, sys, time
from pathlib import Path
from relay.app.workers import parent, worker
from relay.settings import RelaySettings

def relay_until(stop, *_):
    print("a line that waits in the buffer")
    (Path(sys.argv[1]) / str(os.getpid())).write_text(str(os.getppid()))
    {wait}
    return 0

worker.relay_until = relay_until
worker.END_SECONDS = 1
print("another one")
settings = RelaySettings.model_validate(
    {{
        "kafka": {{"bootstrap_servers": "nowhere:1"}},
        "zookeeper": {{"hosts": "nowhere:1"}},
        "status": {{"port": None}},
    }}
)
os._exit(parent.run_workers(settings, None, 2))
"""

Begun = Callable[[str], "subprocess.Popen[bytes]"]


def workers_of(folder: Path, parent: int) -> set[int]:
    """The live workers that this parent has started."""
    found = [(int(each.name), each.read_text()) for each in folder.iterdir()]
    return {pid for pid, started_by in found if started_by == str(parent) and is_alive(pid)}


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[Begun]:
    """Starts a parent of two workers, whose relays wait so; nobody reads the output."""
    processes: list[subprocess.Popen[bytes]] = []

    def begin(wait: str) -> "subprocess.Popen[bytes]":
        reads, writes = os.pipe()
        os.close(reads)
        process = subprocess.Popen(
            [sys.executable, "-c", _PARENT.format(wait=wait), str(tmp_path)],
            stdout=writes,
            stderr=writes,
            env={**os.environ, "PYTHONUNBUFFERED": ""},
        )
        os.close(writes)
        processes.append(process)
        wait_until(lambda: len(workers_of(tmp_path, process.pid)) == 2, "both workers")
        return process

    yield begin
    for process in processes:
        process.kill()
        process.wait()
    for each in tmp_path.iterdir():
        with suppress(ProcessLookupError):
            os.kill(int(each.name), signal.SIGKILL)


def test_workers_whose_stop_hangs_end_after_their_parent(begun: Begun, tmp_path: Path) -> None:
    parent = begun("time.sleep(3600)")
    workers = workers_of(tmp_path, parent.pid)
    parent.kill()
    wait_until(lambda: not any(map(is_alive, workers)), "the workers to end")


def test_workers_start_and_end_as_usual_when_nobody_reads_their_output(
    begun: Begun, tmp_path: Path
) -> None:
    parent = begun("stop.wait()")
    first = workers_of(tmp_path, parent.pid)
    os.kill(min(first), signal.SIGTERM)
    wait_until(lambda: len(workers_of(tmp_path, parent.pid) - {min(first)}) == 2, "another worker")
    parent.terminate()
    assert parent.wait(60) == 0
    started_by = {each.read_text() for each in tmp_path.iterdir()}
    assert started_by == {str(parent.pid)}, "a worker became a parent"

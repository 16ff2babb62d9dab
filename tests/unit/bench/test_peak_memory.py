"""The peak memory of a process and its children."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tools.bench.measuring.usage import peak_bytes

_MEGABYTE = 1_000_000
_SIZE = 60
_FORKS = (
    f"import os, sys; held = bytearray(os.urandom(1)) * ({_SIZE} * {_MEGABYTE}); "
    "child = os.fork(); "
    "child or (print('ready', flush=True)); sys.stdin.read()"
)
_TWO = (
    f"import subprocess, sys; held = bytearray(b'x') * ({_SIZE} * {_MEGABYTE}); "
    "run = 'import sys; held = bytearray(b\\'x\\') * (%d * %d); print(\\'ready\\', flush=True); "
    f"sys.stdin.read()' % ({_SIZE}, {_MEGABYTE}); "
    "subprocess.run([sys.executable, '-c', run])"
)


@pytest.fixture
def peak(request: pytest.FixtureRequest) -> Iterator[int]:
    command = [sys.executable, "-c", request.param]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield peak_bytes(process.pid)
        assert process.stdin is not None
        process.stdin.close()


@pytest.mark.parametrize("peak", [_FORKS], indirect=True)
def test_pages_that_a_forked_child_shares_count_once(peak: int) -> None:
    assert _SIZE * _MEGABYTE < peak < 2 * _SIZE * _MEGABYTE


@pytest.mark.parametrize("peak", [_TWO], indirect=True)
def test_memory_of_a_child_of_its_own_counts(peak: int) -> None:
    assert peak > 2 * _SIZE * _MEGABYTE


def test_an_ended_process_has_none() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert not os.path.exists(f"/proc/{process.pid}")
    assert peak_bytes(process.pid) == 0

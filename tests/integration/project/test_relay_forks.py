"""A forked relay process ends and says so as one that was started."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.relays.relay_forks import can_fork, fork


def test_output_exit_code_and_signals_are_those_of_a_process(tmp_path: Path) -> None:
    with (tmp_path / "log").open("ab") as log:
        helped = fork("relay", ["--help"], os.environ, log)
        refused = fork("relay", ["relay", "--config", str(tmp_path / "none.toml")], os.environ, log)
        assert (helped.wait(20), refused.wait(20)) == (0, 2)
        waiting = fork("http.server", ["--bind", "127.0.0.1", "0"], os.environ, log)
        assert waiting.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(0.05)
        waiting.send_signal(signal.SIGKILL)
        assert (waiting.wait(20), waiting.poll()) == (-signal.SIGKILL, -signal.SIGKILL)
        waiting.terminate()  # nothing is there to be signalled
    said = (tmp_path / "log").read_text(encoding="utf-8")
    assert "Usage: roma" in said
    assert "none.toml" in said
    assert len({helped.pid, refused.pid, waiting.pid, os.getpid()}) == 4


def test_a_variable_that_an_interpreter_reads_when_it_starts_needs_a_start() -> None:
    assert can_fork({**os.environ, "ROMA_CRASH": "never:0"})
    assert not can_fork({**os.environ, "LD_PRELOAD": "/clock.so"})
    assert not can_fork({**os.environ, "PYTHONPATH": "/packages"})

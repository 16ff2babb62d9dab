"""A failed test shows the log of a server that died under it."""

import os
import signal
from pathlib import Path

from tests.servers.running import factory, logs_of_the_dead, running
from tests.unit.embedded.test_process import Listener, within


def test_the_log_of_a_server_that_died_by_itself_is_shown() -> None:
    with running(Listener()) as server:
        assert logs_of_the_dead() == []
        os.kill(server.pid, signal.SIGKILL)
        assert within(10, lambda: server.died)
        assert logs_of_the_dead() == [("log of listener, which died", "listening")]
    assert logs_of_the_dead() == []


def test_what_a_factory_started_ends_with_the_test() -> None:
    with factory(Listener) as start:
        pids = [start().pid, start().pid]
        assert len(set(pids)) == 2
    for pid in pids:
        assert not Path(f"/proc/{pid}").exists()

"""Child processes: ready when they answer, loud when they die, gone when their parent is."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pytest

from deploy.embedded.errors import NotReady, ServerDied
from deploy.embedded.processes.ports import HOST, Port
from deploy.embedded.processes.process import ServerProcess
from deploy.embedded.processes.run_folder import RunFolder, sweep

_LISTEN = """
import signal, socket, sys
signal.signal(signal.SIGTERM, signal.SIG_DFL)
with socket.socket() as server:
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", int(sys.argv[1])))
    print("listening", flush=True)
    server.listen()
    while True:
        server.accept()[0].close()
"""


class Listener(ServerProcess):
    """The smallest server: a Python program that accepts connections."""

    name = "listener"

    def __init__(self, program: str = _LISTEN) -> None:
        super().__init__()
        self.port = self._reserve_port()
        self.program = program

    @classmethod
    def fetch(cls) -> str:
        return "listener"

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    def _prepare(self) -> None:
        (self.folder / "prepared").touch()

    def _command(self) -> Sequence[str | Path]:
        return [sys.executable, "-c", self.program, str(self.port)]

    def _answers(self) -> bool:
        return _accepts(self.port)


class Impatient(Listener):
    ready_within_s = 0.5
    stop_within_s = 0.5


def _accepts(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), 1).close()
    except OSError:
        return False
    return True


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_a_server_keeps_port_and_folder_over_kill_and_stop_and_leaves_nothing() -> None:
    with Listener() as server:
        port, folder, first = server.port, server.folder, server.pid
        server.kill()
        assert not server.running
        assert not _accepts(port)
        server.restart()
        assert (server.port, server.folder) == (port, folder)
        assert server.pid != first
    assert not folder.exists()
    assert not _accepts(port)


def test_a_process_that_dies_shows_its_log_at_once() -> None:
    server = Listener("import sys; print('no such option: --frobnicate'); sys.exit(7)")
    began = time.monotonic()
    with pytest.raises(ServerDied, match=r"code 7(?s:.*)no such option: --frobnicate"), server:
        pass
    assert time.monotonic() - began < 20
    assert not server.folder.exists()


def test_a_process_that_never_answers_is_given_up_and_ended() -> None:
    server = Impatient("import time; print('thinking', flush=True); time.sleep(600)")
    with pytest.raises(NotReady, match=r"did not answer(?s:.*)thinking"):
        server.start()
    assert not server.running
    server.close()


def test_a_process_that_ignores_the_polite_request_is_ended_all_the_same() -> None:
    with Impatient(_LISTEN.replace("SIG_DFL", "SIG_IGN")) as server:
        pid = server.pid
        server.stop()
        assert not psutil.pid_exists(pid)


def test_one_that_died_by_itself_is_told_from_one_that_was_stopped() -> None:
    with Listener() as server:
        assert not server.died
        os.kill(server.pid, signal.SIGKILL)
        assert within(10, lambda: server.died)
        server.start()
        server.stop()
        assert not server.died


def test_a_paused_server_is_silent_until_resumed_and_can_be_stopped() -> None:
    with Listener() as server:
        server.pause()
        with socket.create_connection((HOST, server.port), 2) as waiting:
            waiting.settimeout(0.3)
            with pytest.raises(TimeoutError):
                waiting.recv(1)
            server.resume()
            waiting.settimeout(10)
            assert waiting.recv(1) == b""
        server.pause()
        began = time.monotonic()
    assert time.monotonic() - began < 10


def test_a_server_outlives_the_thread_that_started_it() -> None:
    server = Listener()
    starter = threading.Thread(target=server.start)
    starter.start()
    starter.join(60)
    with server:
        first = server.pid
        assert not within(0.5, lambda: not server.running)
        assert server.pid == first


_PARENT = """
import sys, time
sys.path.insert(0, sys.argv[1])
from tests.unit.embedded.test_process import Listener
server = Listener().start()
print(server.pid, server.folder, flush=True)
time.sleep(600)
"""


@pytest.mark.slow
def test_nothing_survives_a_killed_parent() -> None:
    root = str(Path(__file__).parents[3])
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT, root], stdout=subprocess.PIPE, text=True, cwd=root
    ) as parent:
        assert parent.stdout is not None
        pid, folder = parent.stdout.readline().split()
        assert psutil.pid_exists(int(pid))
        assert Path(folder).exists()
        parent.kill()
        parent.wait(30)
    assert within(10, lambda: not psutil.pid_exists(int(pid)))
    sweep()  # any server that starts elsewhere meanwhile sweeps too
    assert not Path(folder).exists()


def test_the_folder_of_a_living_run_is_not_swept() -> None:
    folder = RunFolder("alive")
    sweep()
    assert folder.path.exists()
    folder.remove()
    assert not folder.path.exists()


def test_the_strangers_variables_do_not_reach_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "TZ": "Asia/Kolkata",
        "LANG": "de_DE",
        "LC_ALL": "C",
        "JAVA_TOOL_OPTIONS": "-Dx",
        "MYSQL_TCP_PORT": "1",
    }.items():
        monkeypatch.setenv(name, value)
    with Listener(
        _LISTEN.replace('print("listening"', "import os; print(dict(os.environ)")
    ) as server:
        said = server.log_tail()
    assert "'TZ': 'UTC'" in said
    assert not any(
        name in said for name in ("Kolkata", "de_DE", "JAVA_TOOL_OPTIONS", "MYSQL_TCP_PORT")
    )


@pytest.mark.slow
def test_no_port_is_given_twice_at_a_time() -> None:
    ports = [Port() for _ in range(50)]
    assert len({port.number for port in ports}) == len(ports)
    taken = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        " from deploy.embedded.processes.ports import Port; print(*(Port().number for _ in "
        "range(200)))"
    )
    root = str(Path(__file__).parents[3])
    other = subprocess.run(
        [sys.executable, "-c", taken, root], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {port.number for port in ports} & set(map(int, other))
    for port in ports:
        port.release()


def test_a_port_that_somebody_listens_on_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server((HOST, 0)) as foreign:
        number = foreign.getsockname()[1]
        order = [number, *range(20_000, 20_100)]
        monkeypatch.setattr(
            "deploy.embedded.processes.ports.random.sample", lambda _range, **_: order
        )
        port = Port()
        assert port.number in order[1:]
        port.release()

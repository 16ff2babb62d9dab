"""A process that is killed leaves no session behind; one that is paused keeps it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

import pytest
import tomli_w

from deploy.embedded import ZooKeeper
from relay.zk import Session
from relay.zk.close_session import last_session
from tests.support.relays.zookeeper_sessions import session_with
from tests.support.waiting import wait_until

_SESSION_SECONDS = 20.0
_SOON_SECONDS = 12.0
_OWNER = """
import sys, threading
from pathlib import Path
from relay.deadline import Deadline
from relay.settings import load_settings
from relay.zk import ForkedCloser, Session, SessionCloser
config = Path(sys.argv[1])
start = {"started": None, "forked": ForkedCloser}[sys.argv[3]]
with SessionCloser(config, start) as closer:
    session = Session(load_settings(config).zookeeper, on_session=closer.note)
    session.start(Deadline.after(60))
    session.create_ephemeral(sys.argv[2], b"")
    sys.stdin.read()
    session.stop()
"""


@pytest.fixture
def session(zookeeper: ZooKeeper) -> Iterator[Session]:
    with session_with(zookeeper.hosts) as found:
        yield found


@pytest.fixture(params=["started", "forked"])
def owner(
    zookeeper: ZooKeeper,
    session: Session,
    tmp_path: Path,
    fresh_name: Callable[[str], str],
    request: pytest.FixtureRequest,
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A process with a session of 20 s, and the node that lives as long as it.

    Its child is a new interpreter, or a fork.
    """
    config, path = tmp_path / "relay.toml", f"/{fresh_name('closer')}"
    document = {
        "kafka": {"bootstrap_servers": "127.0.0.1:1"},
        "zookeeper": {"hosts": zookeeper.hosts, "session_timeout_seconds": _SESSION_SECONDS},
    }
    config.write_text(tomli_w.dumps(document), encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-c", _OWNER, str(config), path, request.param],
        stdin=subprocess.PIPE,
        process_group=0,
    ) as process:
        wait_until(lambda: session.exists(path), "the node")
        yield process, path
        process.kill()


def test_the_session_of_a_killed_process_ends_at_once(
    owner: tuple[subprocess.Popen[bytes], str], session: Session
) -> None:
    process, path = owner
    os.killpg(process.pid, signal.SIGKILL)
    killed_s = monotonic()
    wait_until(lambda: not session.exists(path), "the end of the session")
    assert monotonic() - killed_s < _SOON_SECONDS


def test_a_paused_process_keeps_its_session(
    owner: tuple[subprocess.Popen[bytes], str], session: Session
) -> None:
    process, path = owner
    process.send_signal(signal.SIGSTOP)
    with pytest.raises(AssertionError):
        wait_until(lambda: not session.exists(path), "the end of the session", 3)
    process.send_signal(signal.SIGCONT)
    assert session.exists(path)


def test_a_process_that_ends_leaves_no_child(
    owner: tuple[subprocess.Popen[bytes], str], session: Session
) -> None:
    process, path = owner
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(_SOON_SECONDS) == 0
    assert not session.exists(path)


def test_only_whole_lines_count() -> None:
    first, second = '{"session": 1, "password": "00"}\n', '{"session": 2, "password": "ff"}\n'
    assert last_session([first, second]) == (2, b"\xff")
    assert last_session([first, second[:20]]) == (1, b"\0")
    assert last_session([first, "null\n"]) is None
    assert last_session([]) is None

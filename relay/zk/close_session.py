"""The child process of `SessionCloser`: `python -m relay.zk.close_session CONFIG`, with sessions as
lines of JSON on its input.
"""

import json
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from relay.errors import RelayError
from relay.settings import ZooKeeperSettings, load_settings
from relay.zk.client import Client

_CLOSE_SECONDS: Final = 5.0


def main(config: str) -> int:
    """Read sessions until the input ends, then end the last one, and return the exit code.

    If the parent announced the session's end, nothing is ended.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # this process ends when its parent does
    settings = load_settings(Path(config)).zookeeper
    session = last_session(sys.stdin)
    if session is not None:
        close_session(settings, *session)
    return 0


def last_session(lines: Iterable[str]) -> tuple[int, bytes] | None:
    """Return the id and the password of the session that is open when the lines end; None if the
    parent ended its session, or had none.

    A truncated line is ignored.
    """
    known: dict[str, Any] | None = None
    for line in lines:
        with suppress(ValueError):
            known = json.loads(line)
    return None if known is None else (known["session"], bytes.fromhex(known["password"]))


def close_session(settings: ZooKeeperSettings, session: int, password: bytes) -> None:
    """Connect under the id and password of an existing session, and end that session. Its ephemeral
    nodes are deleted immediately.

    If no server of ZooKeeper answers, the session ends after its timeout.
    """
    client = Client(settings, lambda: None, session=(session, password))
    with suppress(RelayError):
        client.start()
        client.connected.wait(_CLOSE_SECONDS)
        client.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

"""`python -m deploy.embedded fetch | up`."""

import argparse
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Final

from deploy.embedded.cache import cache_folder
from deploy.embedded.catalogue import (
    DEMO,
    MAY_BE_MISSING_IN_CI,
    RELEASES,
    REQUIRED,
    SERVERS,
    fetchers,
    release_fetchers,
)
from deploy.embedded.errors import EmbeddedError
from deploy.embedded.fetching.progress import say
from deploy.embedded.processes.process import ServerProcess
from deploy.embedded.servers.sql_server import SqlServer

_STARTED: Final[Mapping[str, type[ServerProcess]]] = {**SERVERS, **RELEASES}


def main() -> int:
    """Run the command line; the result is the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m deploy.embedded", description="Real servers on loopback."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    fetch = commands.add_parser(
        "fetch", help="download the servers' files once; afterwards no network is needed"
    )
    fetch.add_argument(
        "--only",
        action="append",
        choices=sorted(_all_fetchers()),
        help="only this server; may be repeated",
    )
    up = commands.add_parser("up", help="start servers and run them until Ctrl-C")
    up.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"of {', '.join(_STARTED)}; without names: {', '.join(DEMO)}",
    )
    arguments = parser.parse_args()
    if arguments.command == "fetch":
        return _fetch(arguments.only or list(fetchers()))
    unknown = [name for name in arguments.names if name not in _STARTED]
    if unknown:
        parser.error(f"there is no server named {', '.join(unknown)}")
    return _up(arguments.names or DEMO)


def _all_fetchers() -> Mapping[str, Callable[[], str]]:
    return {**fetchers(), **release_fetchers()}


def _fetch(names: Sequence[str]) -> int:
    """Fetch what can be fetched. Only required servers change the exit code."""
    say(f"files are kept in {cache_folder()}")
    missing = set()
    for name in names:
        try:
            say(f"{name}: {_all_fetchers()[name]()} is here")
        except EmbeddedError as refusal:
            missing.add(name)
            say(f"{name}: NOT AVAILABLE. {refusal}")
    needed = set(names) - MAY_BE_MISSING_IN_CI if os.environ.get("CI") else REQUIRED
    return 1 if missing & needed else 0


def _up(names: Sequence[str]) -> int:
    """Keep servers running until the first signal; a second one kills them."""
    asked = threading.Event()
    servers: list[ServerProcess] = []

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        if asked.is_set():
            for server in servers:
                server.end_at_once()
        asked.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)
    try:
        for name in _STARTED:
            if name in names and not asked.is_set():
                servers.append(_STARTED[name]())
                servers[-1].start()
                print(f"{name} {servers[-1].address}", flush=True)
                if isinstance(servers[-1], SqlServer):
                    say(f"{name}: {servers[-1].logins}")
        say("all are up; Ctrl-C stops them")
        asked.wait()
    except EmbeddedError as failure:
        say(str(failure))
        return 1
    finally:
        _stop(servers)
    return 0


def _stop(servers: Sequence[ServerProcess]) -> None:
    for server in reversed(servers):
        say(f"stopping {server.name}")
        server.close()


if __name__ == "__main__":
    sys.exit(main())

"""Measures an installation of many instances: `make fleet`.

Real ZooKeeper, elections, placement and statuses; no sources and no Kafka. All relays share this
machine: on machines of their own they are faster.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from math import ceil
from threading import Event
from time import monotonic
from typing import Final

from rich.console import Console
from rich.table import Table

from deploy.embedded import ZooKeeper
from deploy.embedded.fetching.progress import say
from tests.support.relays.zookeeper_sessions import session_with
from tools.bench.measuring.admin_process import HEADINGS, measured, served_admin
from tools.fleet.fleet import INSTALLATION, Fleet, Shape
from tools.fleet.server_figures import LoadMeter

_ADDRESSES: Final = (
    "/api/v1/instances",
    "/api/v1/instances?limit=50",
    "/api/v1/instances?filter=shop_04&limit=50",
    "/api/v1/relays",
    "/api/v1/needs-you",
    "/",
)
_REQUESTS: Final = 40
_OBSERVED_EVERY_S: Final = 0.25
_LOST_OF: Final = 3
"""Share of the processes that is killed: one of this number, rounded up."""


def main() -> int:
    """Measure, and print one line for each act; return the exit code."""
    given = _parser().parse_args()
    shape = Shape(given.instances, given.relays, given.processes)
    table = Table(
        "act",
        "seconds",
        "longest without leader, s",
        "instances of a relay",
        "writes/s",
        "requests/s",
        "ZooKeeper CPU s/s",
    )
    answers = Table(*HEADINGS)
    with (
        ZooKeeper(heap="1g") as server,
        session_with(server.hosts) as session,
        Fleet(session, server.hosts, shape) as fleet,
    ):
        for act, run in _acts(fleet, server, given.rest, short=given.short):
            say(act)
            fleet.gaps.begin()
            seconds, *load = _figures(server, run)
            longest = f"{fleet.gaps.longest_s:.1f}"
            table.add_row(act, seconds, longest, fleet.spread(), *load)
            say(f"{act}: {seconds} s; {longest} s at most without a leader")
        _ask_admin(server, shape, answers)
    Console(width=120).print(table, answers)
    return 0


def _ask_admin(server: ZooKeeper, shape: Shape, answers: Table) -> None:
    """Add the admin's times, while all relays lead and write their statuses."""
    say("answers of the admin at rest")
    with served_admin(server.hosts, INSTALLATION, shape.names) as (client, process):
        for address in _ADDRESSES:
            answers.add_row(address, *measured(client, address, _REQUESTS, process))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tools.fleet", description=__doc__)
    parser.add_argument("--instances", type=int, default=1000)
    parser.add_argument("--relays", type=int, default=50)
    parser.add_argument(
        "--processes", type=int, default=10, help="number of processes that run all relays"
    )
    parser.add_argument(
        "--rest", type=float, default=60, help="seconds of the measurement without any event"
    )
    parser.add_argument(
        "--short", action="store_true", help="omit the restarts of all processes and of ZooKeeper"
    )
    return parser


def _acts(
    fleet: Fleet, server: ZooKeeper, rest_s: float, *, short: bool
) -> Iterator[tuple[str, Callable[[], None]]]:
    count = fleet.shape.processes
    yield f"start of {fleet.shape.relays} relays, until all are led", lambda: _start(fleet, count)
    yield "until no instance moves for 10 s", fleet.await_rest
    yield "rest", lambda: _rest(fleet, rest_s)
    lost = ceil(count / _LOST_OF)
    yield f"loss of {lost} of {count} processes, until all are led", lambda: _lose(fleet, lost)
    yield "their return, until no instance moves for 10 s", lambda: _return(fleet, lost)
    if short:
        return
    yield (
        "rolling restart, each process after all instances were led",
        lambda: _restart_in_turn(fleet),
    )
    yield "until no instance moves for 10 s, again", fleet.await_rest
    yield "restart of ZooKeeper, until all are led", lambda: _restart_server(fleet, server)


def _start(fleet: Fleet, count: int) -> None:
    fleet.start(count)
    fleet.await_all_led()


def _rest(fleet: Fleet, seconds: float) -> None:
    ends_s, pause = monotonic() + seconds, Event()
    while monotonic() < ends_s:
        fleet.observe()
        pause.wait(_OBSERVED_EVERY_S)


def _lose(fleet: Fleet, count: int) -> None:
    fleet.kill(fleet.processes[:count])
    fleet.await_all_led()


def _return(fleet: Fleet, count: int) -> None:
    fleet.start(count)
    fleet.await_rest()


def _restart_in_turn(fleet: Fleet) -> None:
    for number in fleet.processes:
        fleet.stop(number)
        fleet.start(1)
        fleet.await_each_led()


def _restart_server(fleet: Fleet, server: ZooKeeper) -> None:
    server.restart()
    fleet.await_all_led()


def _figures(server: ZooKeeper, run: Callable[[], None]) -> tuple[str, ...]:
    meter, began_s = LoadMeter(server), monotonic()
    run()
    seconds, load = f"{monotonic() - began_s:.1f}", meter.load()
    if load is None:
        return (seconds,)
    return seconds, f"{load.writes:.0f}", f"{load.requests:.0f}", f"{load.cpu:.2f}"


if __name__ == "__main__":
    sys.exit(main())

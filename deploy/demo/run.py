"""The course of the demo."""

import json
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import monotonic
from typing import Final

from rich.console import Console

from deploy.demo import mapping
from deploy.demo.comparison import TableComparison, TextRow, compare, source_rows
from deploy.demo.figures import Figures, latencies_ms, result_table
from deploy.demo.login import Login, add_user
from deploy.demo.programs import INSTALLATION, TOKEN, TOPIC, AdminProgram, CopyProgram, RelayProgram
from deploy.demo.shutdown import Shutdown
from deploy.demo.watcher import Watcher
from deploy.demo.workload import Shop
from deploy.embedded import Kafka, MariaDB, ServerProcess, ZooKeeper
from deploy.embedded.errors import NotReady, ServerDied
from deploy.embedded.fetching.progress import say
from deploy.embedded.processes.jvm import QUICK_START

_LIVE_ORDERS: Final = 300
_LIVE_ORDERS_PER_SECOND: Final = 100.0
_CATCH_UP_SECONDS: Final = 90.0
_POLL_SECONDS: Final = 0.02
_WIDTH: Final = 100


@dataclass(frozen=True, slots=True)
class Stack:
    """The servers and programs of the demo, in the order of their start. They stop in reverse."""

    database: MariaDB
    zookeeper: ZooKeeper
    kafka: Kafka
    relay: RelayProgram
    admin: AdminProgram
    spark: CopyProgram

    @classmethod
    def make(cls) -> "Stack":
        """Make all programs with their ports; nothing is started."""
        database, zookeeper, kafka = (
            MariaDB(),
            ZooKeeper(jvm_options=QUICK_START),
            Kafka(jvm_options=QUICK_START),
        )
        relay = RelayProgram(database, kafka, zookeeper)
        return cls(database, zookeeper, kafka, relay, AdminProgram(relay), CopyProgram(kafka))

    @property
    def programs(self) -> Sequence[ServerProcess]:
        """Return the programs in the order of their start."""
        return (self.database, self.zookeeper, self.kafka, self.relay, self.admin, self.spark)


def run(shutdown: Shutdown, *, once: bool) -> int:
    """Run the demo; return 0 when source and copy are equal and no message was lost or repeated."""
    stack = Stack.make()
    with shutdown.running(*stack.programs):
        login = _start(stack)
        shop = Shop(stack.database)
        shop.open()
        mapping.save(stack.admin.url)
        say("the four mapping documents are saved")
        stack.relay.start()
        shop.first_customers()
        with Watcher(stack.kafka) as watcher:
            figures = _work(stack, shop, watcher)
            say(f"starting {stack.spark.name}")
            stack.spark.start()
            tables = _compared(stack)
            seen = watcher.messages
        equal = all(each.equal for each in tables) and seen == shop.messages
        Console(width=_WIDTH).print(
            result_table(tables, figures, shop.messages, seen, stack.admin.url)
        )
        if not once:
            _explore(stack, login)
    return 0 if equal else 1


def _start(stack: Stack) -> Login:
    """Start the servers side by side, then the admin; return the user who can sign in there."""
    servers = (stack.database, stack.zookeeper, stack.kafka)
    for server in servers:
        server.fetch()  # one after the other, so that the progress can be read
    stack.spark.fetch()
    say("starting " + ", ".join(server.name for server in servers))
    with ThreadPoolExecutor(len(servers)) as pool:
        for started in [pool.submit(server.start) for server in servers]:
            started.result()
    stack.admin.start()
    say(f"the admin answers at {stack.admin.url}")
    login = add_user(stack.relay.config)
    say(f"sign in there as {login.name} with the password {login.password}")
    return login


def _work(stack: Stack, shop: Shop, watcher: Watcher) -> Figures:
    _wait(stack, lambda: watcher.messages >= shop.messages, "the first rows in Kafka")
    say(
        "the shops are open: inserts, updates, deletes, key changes, a rolled-back savepoint, "
        "ALTER TABLE"
    )
    before, began_s = shop.messages, monotonic()
    shop.busy_hour()
    _wait(stack, lambda: watcher.messages >= shop.messages, "all rows in Kafka")
    changes, seconds = shop.messages - before, watcher.last_s - began_s
    say(f"{_LIVE_ORDERS} orders one by one")
    committed = shop.live(_LIVE_ORDERS, _LIVE_ORDERS_PER_SECOND)
    _wait(stack, lambda: watcher.messages >= shop.messages, "all live orders in Kafka")
    return Figures(changes, seconds, latencies_ms(committed, watcher.seen_at))


def _compared(stack: Stack) -> list[TableComparison]:
    """Wait for the copies, then compare both sides."""
    stack.spark.request.touch()
    _wait(stack, stack.spark.rows.exists, "the copies")
    copies: Mapping[str, list[TextRow]] = json.loads(stack.spark.rows.read_text(encoding="utf-8"))
    return [
        compare(name, rows, copies.get(name, []))
        for name, rows in source_rows(stack.database).items()
    ]


def _wait(stack: Stack, holds: Callable[[], bool], what: str) -> None:
    """Wait until the condition is true. Report a program that ended, or a timeout, with the log."""
    deadline, pause = monotonic() + _CATCH_UP_SECONDS, threading.Event()
    while not holds():
        for program in stack.programs:
            if program.died:
                raise ServerDied(
                    f"{program.name} ended while the demo waited for {what}. Its log "
                    f"ends:\n{program.log_tail()}"
                )
        if monotonic() > deadline:
            raise NotReady(
                f"{what} did not come in {_CATCH_UP_SECONDS} s. The relay's log "
                f"ends:\n{stack.relay.log_tail()}"
            )
        pause.wait(_POLL_SECONDS)


def exploring_lines(stack: Stack, login: Login) -> tuple[str, ...]:
    """Return the addresses of the running demo, and how to sign in."""
    database, kafka = stack.database, stack.kafka
    return (
        (
            f"page           {stack.admin.url}, sign in as {login.name} with the password "
            f"{login.password}"
        ),
        (
            f"REST           {stack.admin.url}/docs, token {TOKEN} (Authorize there; curl: -H "
            f"'Authorization: Bearer {TOKEN}')"
        ),
        f"status         .venv/bin/roma status --watch --config {stack.relay.config}",
        (
            f"MariaDB        {database.address}, user and password {database.user}; databases "
            f"{', '.join(mapping.SHARDS)}"
        ),
        (
            f"Kafka          {kafka.bootstrap}, topic {TOPIC} (read with "
            f"isolation.level=read_committed), installation {INSTALLATION}"
        ),
        f"Delta copies   {stack.spark.copy_root}",
        "Change rows in MariaDB: topic and copies follow. Ctrl-C stops everything.",
    )


def _explore(stack: Stack, login: Login) -> None:
    for line in exploring_lines(stack, login):
        say(line)
    while True:
        signal.pause()

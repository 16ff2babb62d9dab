"""The servers of all runs, and the objects of one run of a scenario."""

import random
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, Self, TypeAlias

from deploy.embedded import Kafka, KafkaCluster, MariaDB, ZooKeeper
from tests.support.faults.stepped_clock import SteppedClock
from tests.support.faults.tcp_gate import TcpGate
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.sources.purging import purged
from tests.support.waiting import wait_until
from tools.faults.gated_kafka import GatedKafka
from tools.faults.load import Load
from tools.faults.reading.transactions import topic_of
from tools.faults.reading.watcher import Watcher
from tools.faults.revival import servers_in, start_again
from tools.faults.small_disk import SmallDiskKafka

PARTITIONS: Final = 4
_QUICK_TIMEOUTS: Final = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": 500}
_RUNNING_S: Final = 90.0
MODULE: Final = "tests.support.faults.crashing_relay"
"""Module of the relay with fault points. The environment enables one; by default none is active."""


Brokers: TypeAlias = Literal["one", "cluster", "small disk", "behind a gate"]


@dataclass(frozen=True, slots=True)
class Setup:
    """The configuration of a run.

    brokers        the kind of Kafka
    instance       settings of the instance
    pair           whether the source has a standby server
    beside         whether the instance is a group with a second source, which is idle
    own_clock      whether the relays read a wall clock that the run sets
    rate           changes of the load per second
    long_every     k: every k-th transaction of the load is a long one; 0: none
    drops_repeats  whether the consumer drops repeated changes with the same `order`
    transactions   whether the relays publish BEGIN and END messages to a separate topic
    """

    brokers: Brokers = "one"
    instance: Mapping[str, Any] = field(default_factory=dict)
    pair: bool = False
    beside: bool = False
    own_clock: bool = False
    rate: float = 1000
    long_every: int = 0
    drops_repeats: bool = False
    transactions: bool = False


class Servers:
    """Real servers, each started for the first scenario that uses it and kept for the others."""

    def __init__(self) -> None:
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start_again(self) -> list[str]:
        """Start servers that an earlier run left paused or ended; return the names of ended ones.

        Raises EmbeddedError if one does not start.
        """
        return start_again(servers_in(vars(self).values()))

    def of(self, brokers: Brokers) -> Kafka | KafkaCluster:
        """Return the broker or brokers of this kind."""
        match brokers:
            case "one":
                return self.broker
            case "cluster":
                return self.cluster
            case "small disk":
                return self.small_disk
            case "behind a gate":
                return self.gated

    @cached_property
    def database(self) -> MariaDB:
        """Return the MariaDB whose binlog can be purged although a replica reads it."""
        return self._stack.enter_context(MariaDB({"slave_connections_needed_for_purge": 0}))

    @property
    def place_beside(self) -> dict[str, Any]:
        """Return the address of a server without load."""
        return _place(self.database)

    @cached_property
    def pair(self) -> list[MariaDB]:
        """Return a master and its replica, in this order; a scenario that switches their roles must
        reverse it.
        """
        master, replica = (
            self._stack.enter_context(MariaDB({"log_slave_updates": "ON"})) for _ in range(2)
        )
        replica.replicate_from(master)
        return [master, replica]

    @cached_property
    def zookeeper(self) -> ZooKeeper:
        """Return the ZooKeeper, whose tickTime is 1 s."""
        return self._stack.enter_context(ZooKeeper(tick_ms=1000))

    @cached_property
    def broker(self) -> Kafka:
        """Return the single broker."""
        return self._stack.enter_context(Kafka(_QUICK_TIMEOUTS))

    @cached_property
    def small_disk(self) -> SmallDiskKafka:
        """Return the broker with two log folders, one of them on a disk that can be filled."""
        return self._stack.enter_context(SmallDiskKafka(dict(_QUICK_TIMEOUTS)))

    @cached_property
    def gated(self) -> GatedKafka:
        """Return the broker whose clients connect through a proxy."""
        return self._stack.enter_context(GatedKafka(dict(_QUICK_TIMEOUTS)))

    @cached_property
    def cluster(self) -> KafkaCluster:
        """Return the cluster of three brokers."""
        return self._stack.enter_context(KafkaCluster(_QUICK_TIMEOUTS))


class Run:
    """One run: a separate installation, its relays, the load, the reader, and random numbers from
    the seed.
    """

    def __init__(self, servers: Servers, name: str, folder: Path, seed: int, setup: Setup) -> None:
        self.name = name
        self.chance = random.Random(seed)
        self.servers = servers
        self.database: MariaDB = servers.pair[0] if setup.pair else servers.database
        self.zookeeper = servers.zookeeper
        self.kafka: Kafka | KafkaCluster = servers.of(setup.brokers)
        self.notes: list[str] = []
        self.relays: list[RelayProcess] = []
        self._stack = ExitStack()
        self._pause = threading.Event()
        self.line = self._stack.enter_context(TcpGate("127.0.0.1", self.database.port))
        self.database.execute(
            f"create database {name}",
            f"create table {name}.t (id int primary key, n int, v longtext)",
        )
        self.clock = self._stack.enter_context(SteppedClock(folder)) if setup.own_clock else None
        settings = self._settings(setup, folder)
        copies = 3 if setup.brokers == "cluster" else 1
        self.installation = Installation(
            name, folder, self.database, self.kafka, self.zookeeper, copies=copies, **settings
        )
        self._stack.callback(self.installation.close)
        self.installation.map(
            topics=[{"logicDb": name, "topic": name}], dbs=[{"logicDb": name, "realDbs": name}]
        )
        self.watcher = Watcher(self.reads_at, name, drops_repeats=setup.drops_repeats)
        self.load = Load(self.database, name, seed, setup.rate, setup.long_every)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def reads_at(self) -> str:
        """Return the broker's address for the consumer of the run; faults do not affect it."""
        return self.kafka.direct if isinstance(self.kafka, GatedKafka) else self.kafka.bootstrap

    @contextmanager
    def busy(self, relays: int) -> Iterator[None]:
        """Context manager: run relays, a load and a consumer. The block begins when the consumer
        has received some hundred messages.
        """
        environment = self.clock.environment if self.clock is not None else {}
        with ExitStack() as stack:
            for number in range(relays):
                relay = RelayProcess(
                    self.installation, f"relay-{number}", module=MODULE, folder=None, **environment
                )
                self.relays.append(stack.enter_context(relay))
                if not number:
                    relay.wait_for("RUNNING", seconds=_RUNNING_S)
            stack.enter_context(self.watcher)
            stack.enter_context(self.load)
            self._wait(lambda: self.watcher.tally.seen > 300, "the first changes")
            yield

    def write_to(self, database: MariaDB) -> None:
        """Move the load to another server, whose rows are compared with the messages at the end."""
        self.database = database
        self.load.move(database)

    @property
    def leader(self) -> RelayProcess:
        """Wait for a relay in the state RUNNING, and return it."""
        found: list[RelayProcess] = []

        def shown() -> bool:
            status = self.installation.status()
            running = status is not None and status.state == "RUNNING"
            found[:] = [
                each
                for each in self.relays
                if running and status is not None and status.relay.endswith(f"-{each.pid}")
            ]
            return bool(found)

        wait_until(shown, "a relay that runs", _RUNNING_S)
        return found[0]

    @property
    def broker(self) -> Kafka:
        """Return the only broker."""
        assert isinstance(self.kafka, Kafka)
        return self.kafka

    @property
    def position_topic(self) -> str:
        """Return the topic of position records of the instance `shop`."""
        return f"{self.name}.position.shop"

    def rest(self, least_s: float, most_s: float | None = None) -> None:
        """Wait for a random time between `least_s` and `most_s`, while load and relays continue.

        `most_s` None: wait for `least_s`.
        """
        self._pause.wait(least_s if most_s is None else self.chance.uniform(least_s, most_s))

    def moving(self) -> None:
        """Wait until the reader gets a new message."""
        seen = self.watcher.tally.seen
        self._wait(lambda: self.watcher.tally.seen != seen, "changes after the fault")

    def spooled(self) -> None:
        """Wait until the source is read into the spool."""

        def shown() -> bool:
            status = self.installation.status()
            return status is not None and status.spool == "filling" and status.spool_bytes > 0

        self._wait(shown, "the spool being filled")

    def purge(self) -> None:
        """Purge the binlog of the source except the newest file."""
        self.database.execute("flush binary logs")
        self.rest(2)  # readers then continue in the newest file
        assert purged(self.database), "somebody still reads what was to be purged"

    def _settings(self, setup: Setup, folder: Path) -> dict[str, Any]:
        """Return the settings of the instance: the scenario's, and the addresses of its servers."""
        instance, servers = dict(setup.instance), self.servers
        if instance.get("spool") == "mixed":
            instance["spooling"] = {"directory": str(folder / "spool"), "after_seconds": 1}
        if setup.beside:
            instance["group"] = {"sources": [{"name": "beside", **servers.place_beside}]}
        if setup.transactions:
            instance["transaction"] = {
                **instance.get("transaction", {}),
                "topic": topic_of(self.name),
            }
        source: dict[str, Any] = {"port": self.line.port}
        if setup.pair:
            source["standby"] = _place(servers.pair[1])
        return {
            "filter": {"filter_regex": f"{self.name}\\..*"},
            **instance,
            "source": {**source, **instance.get("source", {})},
        }

    def _wait(self, holds: Callable[[], bool], what: str) -> None:
        try:
            wait_until(holds, what, _RUNNING_S)
        except AssertionError as exc:
            raise AssertionError(f"{exc}: {self.installation.status()}\n{self.logs()}") from exc

    def logs(self) -> str:
        """Return the ends of the relays' logs."""
        return "\n".join(f"--- {each.log.name}\n{each.log_tail()}" for each in self.relays)


def _place(server: MariaDB) -> dict[str, Any]:
    return {"host": server.host, "port": server.port}

"""The relay as operators run it: a child process with a configuration file."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomli_w

from deploy.embedded import Kafka, KafkaCluster, SqlServer, ZooKeeper
from relay.deadline import Deadline
from relay.settings import RelaySettings
from relay.state import (
    Backup,
    DocumentStore,
    FailoverStore,
    FlowStore,
    InstanceDocumentStore,
    InstanceStatus,
    InstanceStore,
    MappingStore,
    Membership,
    Note,
    Paths,
    PlacementStore,
    SnapshotStore,
)
from relay.zk import Session
from tests.support.relays.relay_forks import Forked, can_fork, fork
from tests.support.relays.zookeeper_sessions import wipe
from tests.support.waiting import wait_until

_TEST_SESSION_SECONDS = 20
"""Session timeout of the test's own connection, which holds no election. It is longer than a
relay's session, so that a paused machine does not fail the test.
"""


class Installation:
    """One installation on the shared servers, under names of its own.

    `relay_zookeeper` is the address of ZooKeeper for the relays, if it differs. `copies` is the
    replication factor of the topics; one replica less must be in sync.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        database: SqlServer,
        kafka: Kafka | KafkaCluster,
        zookeeper: ZooKeeper,
        *,
        session_timeout_seconds: float = 4,
        relay_zookeeper: str | None = None,
        copies: int = 1,
        placement: dict[str, Any] | None = None,
        **instance: Any,
    ) -> None:
        self.name = name
        self.folder = folder
        self.file = folder / f"{name}.toml"
        source = {
            "host": database.host,
            "port": database.port,
            "user": "relay",
            "password": "relay",
            "server_id": 900_000 + os.getpid() % 10_000 + len(name),
        }
        self.document: dict[str, Any] = {
            "installation": name,
            "kafka": {
                "bootstrap_servers": kafka.bootstrap,
                "replication_factor": copies,
                "min_insync_replicas": max(1, copies - 1),
            },
            "zookeeper": {
                "hosts": relay_zookeeper or zookeeper.hosts,
                "session_timeout_seconds": session_timeout_seconds,
            },
            "placement": placement or {},
            "status": {"port": 0, "refresh_seconds": 0.2},
            "instances": [
                {
                    "name": "shop",
                    "partition": {"partitions_num": 4},
                    **instance,
                    "source": source | instance.get("source", {}),
                }
            ],
        }
        self.file.write_text(tomli_w.dumps(self.document), encoding="utf-8")
        self.settings = RelaySettings.model_validate({**self.document, "placement": {}})
        self._session = Session(
            self.settings.zookeeper.model_copy(
                update={"hosts": zookeeper.hosts, "session_timeout_seconds": _TEST_SESSION_SECONDS}
            ),
            answer_seconds=60,
        )
        self._session.start(Deadline.after(60))
        self._paths = Paths.of(self.settings.zookeeper, name)
        self.membership = Membership(self._session, self._paths)
        self.overrides = PlacementStore(self._session, self._paths)
        self.definitions = InstanceDocumentStore(self._session, self._paths)

    def map(self, **documents: list[dict[str, str]]) -> None:
        """Save documents by the last word of their names: `map(dbs=[...], topics=[...])`."""
        store = MappingStore(self._session, self._paths)
        bodies = {f"com.pajk.Roma.{word}": json.dumps(body) for word, body in documents.items()}
        current = store.current()
        store.save(current, {**current.bodies, **bodies}, Note("test", "test"))

    def mapping_number(self) -> int:
        """The number of the mapping set that was saved last."""
        return MappingStore(self._session, self._paths).number()

    def map_and_wait(self, **documents: list[dict[str, str]]) -> None:
        """Save documents as `map` does, and wait until the relay publishes under the new set.

        A row that is written before that may be published under the former set.
        """
        self.map(**documents)
        number = self.mapping_number()
        wait_until(
            lambda: (status := self.status()) is not None and status.mapping_set == number,
            f"mapping set {number} is active",
        )

    def wipe(self) -> None:
        """Delete all nodes of the installation in ZooKeeper."""
        wipe(self._session, self._paths.base)

    def take_documents(self) -> Backup:
        """Return the documents of ZooKeeper, as a backup does."""
        return DocumentStore(self._session, self._paths, self.name).take()

    def put_documents(self, backup: Backup) -> None:
        """Restore the documents of a backup."""
        DocumentStore(self._session, self._paths, self.name).put(backup, over_present=True)

    def statuses(self) -> tuple[InstanceStatus, ...]:
        return InstanceStore(self._session, self._paths).statuses()

    def status(self) -> InstanceStatus | None:
        found = [each for each in self.statuses() if each.name == "shop"]
        return found[0] if found else None

    def wait_for_epoch(self, epoch: int, what: str) -> None:
        """Return when the instance publishes under this epoch; fail with `what` otherwise."""
        wait_until(lambda: (status := self.status()) is not None and status.epoch == epoch, what)

    def unready(self, server: str) -> set[str]:
        """Why the relays of a server could not run their instances, as codes."""
        members = [each for each in self.membership.members() if each.server == server]
        return {each.code for member in members for each in member.candidacies if each.code}

    @property
    def session(self) -> Session:
        """The test's own connection to ZooKeeper."""
        return self._session

    @property
    def snapshots(self) -> SnapshotStore:
        """The requests to copy tables."""
        return SnapshotStore(self._session, self._paths)

    @property
    def failover(self) -> FailoverStore:
        """Orders, view and history of the source's failover."""
        return FailoverStore(self._session, self._paths)

    @property
    def flows(self) -> FlowStore:
        """The rate limits and pauses that operators set."""
        return FlowStore(self._session, self._paths)

    def limit(self, rows_per_second: int | None) -> None:
        """Limit the instance to this number of rows per second, and wait until its relay applies
        the limit.

        None removes the limit; then no relay needs to run.
        """
        asked = self.flows.read("shop")
        self.flows.write("shop", replace(asked, rows_per_second=rows_per_second))
        if rows_per_second is not None:
            shown = f"{rows_per_second} rows/s"
            wait_until(
                lambda: (status := self.status()) is not None and status.held_back == shown, shown
            )

    def tables(self) -> tuple[str, ...]:
        """The real tables that the instance has read, as ZooKeeper lists them."""
        return InstanceStore(self._session, self._paths).tables_of("shop")

    def close(self) -> None:
        self._session.stop()


class RelayProcess:
    """One relay process of an installation; a context manager that ends the process.

    `folder` holds the package that is run, None: the one under test. With `fresh = True`
    it begins as a new interpreter, as for operators; otherwise it is forked, which is faster.
    """

    def __init__(
        self,
        installation: Installation,
        name: str = "relay",
        *,
        module: str = "relay",
        folder: Path | None = None,
        **environment: str,
    ) -> None:
        self._installation = installation
        self.fresh = False
        self._module = module
        self._folder = folder
        self._environment = environment
        self.label = name
        self.log = installation.folder / f"{name}.log"
        self._child: subprocess.Popen[bytes] | Forked | None = None
        self._log_start = 0

    def __enter__(self) -> "RelayProcess":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        assert self._child is not None
        return self._child.pid

    @property
    def ended(self) -> bool:
        assert self._child is not None
        return self._child.poll() is not None

    def start(self, **environment: str) -> None:
        arguments = ["relay", "--config", str(self._installation.file)]
        told = {**os.environ, **self._environment, **environment}
        with self.log.open("ab") as log:
            self._log_start = log.tell()
            if not self.fresh and self._folder is None and can_fork(told):
                self._child = fork(self._module, arguments, told, log)
                return
            command = [sys.executable, "-m", self._module, *arguments]
            told["PYTHONFAULTHANDLER"] = "1"
            self._child = subprocess.Popen(
                command, stdout=log, stderr=log, env=told, cwd=self._folder
            )

    def kill(self) -> None:
        """Kill the process (SIGKILL)."""
        assert self._child is not None
        self._child.kill()
        self._child.wait(60)

    def wait_for_crash(self, seconds: float = 60) -> None:
        """Wait until the process has ended by its own SIGKILL."""
        assert self._child is not None
        try:
            code = self._child.wait(seconds)
        except subprocess.TimeoutExpired as exc:
            raise AssertionError(
                f"it lives after {seconds} s: {self._installation.status()}\n{self.log_tail()}"
            ) from exc
        assert code == -signal.SIGKILL, self.log_tail()

    def signal(self, number: signal.Signals) -> None:
        assert self._child is not None
        self._child.send_signal(number)

    def stop(self) -> int:
        """Stop the process with SIGTERM; return its exit code."""
        assert self._child is not None
        if self._child.poll() is None:
            self._child.terminate()
        try:
            return self._child.wait(90)
        except subprocess.TimeoutExpired as exc:
            self.signal(signal.SIGABRT)  # it writes the stack of each thread to the log
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(10)
            self.kill()  # a paused process handles no other signal
            raise AssertionError(f"the relay did not end:\n{self.log.read_text()}") from exc

    def wait_for(self, state: str, code: str = "", seconds: float = 60) -> InstanceStatus:
        """Wait until the instance shows this state (and code).

        Fails with the log when the process has ended or at the timeout.
        """
        seen: list[InstanceStatus | None] = []

        def shown() -> bool:
            status = self._installation.status()
            seen.append(status)
            assert self._child is not None
            assert self._child.poll() is None, f"the relay died:\n{self.log_tail()}"
            own = status is not None and status.relay.endswith(f"-{self._child.pid}")
            return status is not None and own and status.state == state and status.code == code

        try:
            wait_until(shown, f"instance {state} {code}", seconds)
        except AssertionError as exc:
            raise AssertionError(f"{exc}: last status {seen[-1]}\n{self.log_tail()}") from exc
        last = seen[-1]
        assert last is not None
        return last

    def log_since_start(self) -> str:
        """Return what the process that was started last has logged."""
        with self.log.open("rb") as log:
            log.seek(self._log_start)
            return log.read().decode(errors="replace")

    def log_tail(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-40:])

"""The relay as operators run it: a child process with a configuration file."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
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
)
from relay.zk import Session
from tests.support.relays.zookeeper_sessions import wipe
from tests.support.waiting import wait_until


class Installation:
    """One installation on the shared servers, under names of its own.

    `relay_zookeeper` is another way to ZooKeeper for the relays alone; `copies` is how many each
    topic has, all but one in sync.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        database: SqlServer,
        kafka: Kafka | KafkaCluster,
        zookeeper: ZooKeeper,
        *,
        session_timeout_seconds: float = 2,
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
            self.settings.zookeeper.model_copy(update={"hosts": zookeeper.hosts})
        )
        self._session.start(Deadline.after(20))
        self._paths = Paths.of(self.settings.zookeeper, name)
        self.membership = Membership(self._session, self._paths)
        self.overrides = PlacementStore(self._session, self._paths)
        self.definitions = InstanceDocumentStore(self._session, self._paths)

    def map(self, **documents: list[dict[str, str]]) -> None:
        """Save documents by their last word: `map(dbs=[...], topics=[...])`."""
        store = MappingStore(self._session, self._paths)
        bodies = {f"com.pajk.Roma.{word}": json.dumps(body) for word, body in documents.items()}
        current = store.current()
        store.save(current, {**current.bodies, **bodies}, Note("test", "test"))

    def wipe(self) -> None:
        """Delete everything that ZooKeeper holds of the installation."""
        wipe(self._session, self._paths.base)

    def take_documents(self) -> Backup:
        """What ZooKeeper holds now, as a backup."""
        return DocumentStore(self._session, self._paths, self.name).take()

    def put_documents(self, backup: Backup) -> None:
        """Put a backup back over what ZooKeeper holds."""
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
    def failover(self) -> FailoverStore:
        """Orders, view and history of the source's failover."""
        return FailoverStore(self._session, self._paths)

    @property
    def flows(self) -> FlowStore:
        """What operators ask of the instances' flow."""
        return FlowStore(self._session, self._paths)

    def tables(self) -> tuple[str, ...]:
        """The real tables that the instance has met, as ZooKeeper lists them."""
        return InstanceStore(self._session, self._paths).tables_of("shop")

    def close(self) -> None:
        self._session.stop()


class RelayProcess:
    """One relay process of an installation; a context manager that leaves nothing behind.

    `folder` holds the package that is run, None: the one under test.
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
        self._module = module
        self._folder = folder
        self._environment = environment
        self.label = name
        self.log = installation.folder / f"{name}.log"
        self._child: subprocess.Popen[bytes] | None = None

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
        with self.log.open("ab") as log:
            command = [
                sys.executable,
                "-m",
                self._module,
                "relay",
                "--config",
                str(self._installation.file),
            ]
            told = {**os.environ, "PYTHONFAULTHANDLER": "1", **self._environment, **environment}
            self._child = subprocess.Popen(
                command, stdout=log, stderr=log, env=told, cwd=self._folder
            )

    def kill(self) -> None:
        """End it as a crash does."""
        assert self._child is not None
        self._child.kill()
        self._child.wait(30)

    def wait_for_crash(self, seconds: float = 30) -> None:
        """Wait until it has killed itself."""
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
        """Ask it to end; its exit code."""
        assert self._child is not None
        if self._child.poll() is None:
            self._child.terminate()
        try:
            return self._child.wait(40)
        except subprocess.TimeoutExpired as exc:
            self.signal(signal.SIGABRT)  # it writes down what each thread does
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(10)
            self.kill()  # where it is paused it hears nothing else
            raise AssertionError(f"the relay did not end:\n{self.log.read_text()}") from exc

    def wait_for(self, state: str, code: str = "", seconds: float = 40) -> InstanceStatus:
        """Wait until the instance shows this state (and code).

        Shows the log when the process died or the time is over.
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

    def log_tail(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-40:])

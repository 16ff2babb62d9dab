"""The relay, the admin, the load and the services of one round."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from relay.settings import RelaySettings
from tests.support.relays.admin_server import TOKEN, serving
from tests.support.relays.relay_process import RelayProcess
from tests.support.waiting import wait_until
from tools.clients.judging import Work, works
from tools.clients.service import Kind, Service, make_database
from tools.faults.stage import Run, Servers, Setup

SESSION_SECONDS: Final = 6
"""The shortest session timeout that Kafka accepts."""
_RATE: Final = 150
_WAIT_SECONDS: Final = 90


class Shop:
    """One table under load, a relay that publishes it, and services of one kind that read it."""

    def __init__(self, run: Run, kind: Kind, relay: RelayProcess, admin: str, folder: Path) -> None:
        self.run = run
        self.kind = kind
        self.relay = relay
        self.services: list[Service] = []
        self.all_services: list[Service] = []
        self.file = folder / "processed"
        self._arguments = _arguments(run.name, kind, admin, folder)
        self._is_moved = False

    def start_service(self) -> Service:
        """Start one more service of the group."""
        service = Service(self.kind, self.file, len(self.all_services), self._arguments)
        self.services.append(service)
        self.all_services.append(service)
        return service

    def replace(self, service: Service) -> None:
        """Start a service in place of one that has ended."""
        self.services.remove(service)
        self.start_service()

    def move_table(self) -> None:
        """Map the table to another topic, or back to its first one."""
        self._is_moved = not self._is_moved
        topic = f"{self.run.name}-second" if self._is_moved else self.run.name
        self.run.installation.map(topics=[{"logicDb": self.run.name, "topic": topic}])

    def works(self) -> list[Work]:
        """Return the units of work that all services have processed."""
        return works(self.file.read_text()) if self.file.exists() else []

    def wait_for_rows(self, more: int) -> None:
        """Wait until the services have processed this number of further rows."""
        wanted = sum(len(each.rows) for each in self.works()) + more
        self.wait(lambda: sum(len(each.rows) for each in self.works()) >= wanted, f"{more} rows")

    def wait(self, holds: Any, what: str) -> None:
        """Wait for a condition while all services run. Raises AssertionError with their logs."""

        def either() -> bool:
            for each in self.services:
                each.check()
            return bool(holds())

        try:
            wait_until(either, what, _WAIT_SECONDS)
        except AssertionError as exc:
            logs = "\n".join(f"--- {each.pid}\n{each.tail()}" for each in self.services)
            raise AssertionError(
                f"{exc}: {self.run.installation.status()}\n{self.relay.log_tail()}\n{logs}"
            ) from exc

    def stop_services(self) -> None:
        """Stop all services at the same time."""
        for each in self.services:
            each.ask_to_stop()
        for each in self.services:
            each.wait(60)
        self.services.clear()

    def kill_services(self) -> None:
        """Kill the services that still run."""
        for each in self.services:
            each.kill()


@contextmanager
def opened(servers: Servers, name: str, kind: Kind, seed: int) -> Iterator[Shop]:
    """Run relay, admin and load of a round, without services."""
    setup = Setup(rate=_RATE, transactions=kind == "transactions")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="roma-clients-")))
        run = stack.enter_context(Run(servers, name, folder, seed, setup))
        run.installation.map(tbs=[{"logicTb": "t", "realTbs": "t"}])  # known before its first row
        document = {**run.installation.document, "api": {"port": 0, "token": TOKEN}}
        settings = RelaySettings.model_validate({**document, "placement": {}})
        server = stack.enter_context(serving(settings))
        relay = stack.enter_context(RelayProcess(run.installation))
        relay.wait_for("RUNNING", seconds=_WAIT_SECONDS)
        shop = Shop(run, kind, relay, server.url, folder)
        if kind == "inbox":
            make_database(shop.file)
        stack.enter_context(run.load)
        stack.callback(shop.kill_services)
        yield shop


def _arguments(name: str, kind: Kind, admin: str, folder: Path) -> dict[str, Any]:
    """Return what each service gives its subscription, as JSON has it."""
    own: dict[str, Any] = {
        "group": f"{name}-service",
        "admin": admin,
        "token": TOKEN,
        "cache": str(folder / "cache"),
        "session_timeout_seconds": SESSION_SECONDS,
        "refresh_seconds": 1,
    }
    if kind == "transactions":
        return {**own, "instance": "shop", "tables": [f"{name}.t"]}
    return {**own, "database": name, "table": "t"}

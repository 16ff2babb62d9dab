"""A relay of several worker processes, and an installation with several instances for it."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import tomli_w

from deploy.embedded import Kafka, MariaDB
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.relays.scraping import NO_CERTIFICATES, status_url
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.counting_load import CountingLoad, assert_exactly_once
from tests.support.waiting import wait_until


class Shards:
    """Instances `one`, `two` …, each of which relays its own database to a topic of its name."""

    def __init__(
        self, installation: Installation, database: MariaDB, kafka: Kafka, names: tuple[str, ...]
    ) -> None:
        self.installation = installation
        self.names = names
        self._database = database
        self._kafka = kafka
        self.schemas = {each: f"{installation.name}_{each}" for each in names}
        (common,) = installation.document["instances"]
        for schema in self.schemas.values():
            database.execute(
                f"create database {schema}",
                f"create table {schema}.t (id int primary key, n int, v longtext)",
            )
        installation.document["instances"] = [
            self._instance(number, name, common) for number, name in enumerate(names)
        ]
        self.write()
        installation.map(
            topics=[{"logicDb": each, "topic": each} for each in self.schemas.values()],
            dbs=[{"logicDb": each, "realDbs": each} for each in self.schemas.values()],
        )

    def _instance(self, number: int, name: str, common: Mapping[str, Any]) -> dict[str, Any]:
        source = {**common["source"], "server_id": common["source"]["server_id"] + 100 + number}
        schema = self.schemas[name]
        return {
            **common,
            "name": name,
            "source": source,
            "filter": {"filter_regex": f"{schema}\\..*"},
        }

    def write(self, **placement: object) -> None:
        """Write the file, with these settings of the placement changed."""
        document = self.installation.document
        document["placement"] = {**document["placement"], **placement}
        self.installation.file.write_text(tomli_w.dumps(document), encoding="utf-8")

    def leaders(self) -> dict[str, str]:
        """The name of the relay that leads each instance."""
        return dict(self.installation.membership.leaders())

    def wait_until_led(self, by: Callable[[str], bool] = bool, seconds: float = 60) -> None:
        """Wait until each instance runs, under relays whose names fulfil the condition."""

        def led() -> bool:
            shown = {each.name: each for each in self.installation.statuses()}
            leaders = self.leaders()
            return all(
                name in shown
                and shown[name].state == "RUNNING"
                and shown[name].relay == leaders.get(name, "")
                and by(leaders[name])
                for name in self.names
            )

        wait_until(led, "each instance to run", seconds)

    def spread(self) -> list[int]:
        """How many instances each leading relay has, ascending."""
        leaders = list(self.leaders().values())
        return sorted(leaders.count(each) for each in set(leaders))

    def load(self, stack: ExitStack) -> dict[str, CountingLoad]:
        """Write changes into each database until the stack ends."""
        return {
            name: stack.enter_context(CountingLoad(self._database, schema))
            for name, schema in self.schemas.items()
        }

    def _is_caught_up(self) -> bool:
        """Return whether no instance lags. This is faster than reading whole topics."""
        found = self.installation.statuses()
        return all(each.state == "RUNNING" and each.lag_seconds == 0 for each in found)

    def _is_published(self, name: str, load: CountingLoad) -> bool:
        return len(read_topic(self._kafka.bootstrap, self.schemas[name])) >= load.changes

    def wait_for_rows(self, rows: int = 100) -> None:
        """Wait until each leader has published this number of rows."""
        wait_until(
            lambda: (
                len(found := self.installation.statuses()) == len(self.names)
                and all(each.published_rows >= rows for each in found)
            ),
            "rows of all instances",
        )

    def assert_exactly_once(self, loads: Mapping[str, CountingLoad]) -> None:
        """End the loads, and compare each topic with what was written."""
        for load in loads.values():
            load.end()
        wait_until(self._is_caught_up, "all instances to catch up", 90)
        for name, load in loads.items():
            wait_until(partial(self._is_published, name, load), f"the end of {name}")
            seen = read_topic(self._kafka.bootstrap, self.schemas[name])
            assert_exactly_once(seen, load, self._database, self.schemas[name])


def workers_of(installation: Installation, relay: RelayProcess) -> dict[int, int]:
    """The process id of each registered worker of a relay, by its number."""
    return {
        each.worker: each.pid
        for each in installation.membership.members()
        if each.program.endswith(f"-{relay.pid}")
    }


def wait_for_workers(
    installation: Installation, relay: RelayProcess, count: int, other_than: int = 0
) -> dict[int, int]:
    """Wait until so many workers are registered, none of them with this process id."""

    def registered() -> bool:
        found = workers_of(installation, relay)
        return len(found) == count and other_than not in found.values()

    wait_until(registered, f"{count} workers")
    return workers_of(installation, relay)


def ask(relay: RelayProcess, path: str) -> httpx.Response:
    """Return the answer of the relay's HTTP server."""
    url = f"{status_url(relay)}{path}"
    return httpx.get(url, trust_env=False, timeout=60, verify=NO_CERTIFICATES)


def pid_of(name: str) -> int:
    """The process id in the name of a relay."""
    return int(name.rpartition("-")[2])


def is_alive(pid: int) -> bool:
    """Return whether a process runs. A zombie, whose parent has not waited for it, does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"

"""What a client id gets again, and what never: new connections, kills, restarts, two servers."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from typer.testing import CliRunner

from canal_server.wire import EntryKind
from canal_server.wire.schema import MESSAGES
from deploy.embedded import Kafka, MariaDB
from relay.cli import app
from relay.telemetry.metrics import REGISTRY
from tests.e2e.canal_server.conftest import Served, canal_server
from tests.e2e.client.conftest import Shop, opened_shop
from tests.e2e.conftest import NewInstallation
from tests.support.clients.canal.java_client import JavaClient
from tests.support.clients.canal.real_canal import CanalRefused, Rows
from tests.support.clients.canal.wire_client import WireClient
from tests.support.relays.admin_server import TOKEN
from tests.support.waiting import wait_until


def ids(batch: Any) -> list[int]:
    """Return the ids of the rows of a batch, in order."""
    found = []
    for each in batch.messages:
        entry = MESSAGES["Entry"].FromString(each)
        if entry.entryType == EntryKind.ROW_DATA:
            change = MESSAGES["RowChange"].FromString(entry.storeValue)
            found += [int(row.afterColumns[0].value) for row in change.rowDatas]
    return sorted(found)


def connected(address: tuple[str, int], client_id: str = "1001") -> WireClient:
    client = WireClient.connected(address)
    client.place["client_id"] = client_id
    assert client.log_in().error_code == 0
    answer = client.subscribe()
    assert answer.error_code == 0, answer
    return client


def rows(client: WireClient, *expected: int, size: int = 100) -> int:
    """Wait for a batch, which must have these rows; return its id."""
    found: list[Any] = []

    def arrived() -> bool:
        found.append(client.get(size, 200))
        return bool(found[-1].batch_id != -1)

    wait_until(arrived, f"a batch with {expected}")
    assert ids(found[-1]) == list(expected)
    return int(found[-1].batch_id)


def test_what_is_not_acknowledged_comes_again_and_client_ids_have_their_own_positions(
    served: Served,
) -> None:
    served.insert(1)
    client = connected(served.address)
    client.ack_batch(rows(client, 1))
    served.insert(2)
    rows(client, 2)
    served.insert(3)
    rows(client, 3)
    client.roll_back()
    both = rows(client, 2, 3)
    with connected(served.address) as newest, connected(served.address, "7") as other:
        assert "newer connection" in client.ack().error_message
        assert both
        newest.ack_batch(rows(newest, 2, 3))
        assert newest.get().batch_id == -1
        rows(other, 1, 2, 3)
        labels = {"destination": "example", "client_id": "7"}
        assert REGISTRY.get_sample_value("roma_canal_server_batches_out", labels) == 1
    client.socket.close()


@pytest.mark.long
def test_a_size_and_a_filter_limit_what_a_batch_has(serve: Callable[..., Any]) -> None:
    with serve(rows_out=3) as served:
        served.insert(1, 2, 3, 4)
        with connected(served.address) as client:
            found: list[int] = []

            def full() -> bool:
                batch = client.get(2, 200)
                assert len(ids(batch)) <= 2
                found.extend(ids(batch))
                return len(found) >= 3

            wait_until(full, "rows up to the limit")
            assert client.get(2, 200).batch_id == -1, "too many rows are out"
            client.roll_back()
            wait_until(lambda: client.get(2, 200).batch_id != -1, "a batch after the roll back")
        with WireClient.connected(served.address) as client:
            client.log_in()
            refusal = client.subscribe("other\\..*")
            assert "no logical table" in refusal.error_message
        with WireClient.connected(served.address) as client:
            client.log_in()
            assert "look-ahead" in client.subscribe("(?=a)b").error_message


@pytest.mark.long
def test_the_java_client_is_killed_and_another_one_continues(
    served: Served, tmp_path: Path
) -> None:
    served.insert(1)
    with JavaClient(served.address, tmp_path) as first:
        first.say("connect")
        first.say("subscribe", f"{served.shop.name}\\..*")
        first.say("ack", java_rows(first, 1))
        served.insert(2)
        java_rows(first, 2)
        first.kill()
    with JavaClient(served.address, tmp_path) as second:
        second.say("connect")
        second.say("subscribe", f"{served.shop.name}\\..*")
        java_rows(second, 2)
        served.insert(3)
        last = java_rows(second, 3)
        second.say("ack", last)
        with pytest.raises(CanalRefused, match="deserializer failed"):
            second.say("get_without_ack", 1, 100)
        second.say("disconnect")
        second.say("connect")
        second.say("subscribe", f"{served.shop.name}\\..*")
        second.say("ack", java_rows(second, 2, 3))


def java_rows(client: JavaClient, *expected: int) -> int:
    found: list[Rows] = []

    def arrived() -> bool:
        found.append(client.batch("get_without_ack", 100, 200))
        return found[-1].id != -1

    wait_until(arrived, f"a batch with {expected}")
    assert sorted(found[-1].rows) == list(expected)
    return found[-1].id


class Process:
    """`python -m canal_server` of a shop."""

    def __init__(self, shop: Shop, name: str) -> None:
        own = {
            "port": 0,
            "admin": shop.admin,
            "token": TOKEN,
            "cache": str(shop.folder / "canal-cache"),
            "destinations": [{"name": "example"}],
            "session_timeout_seconds": 6,
        }
        file = shop.folder / f"{name}.toml"
        document = {**shop.installation.document, "canal_server": own}
        file.write_text(tomli_w.dumps(document), encoding="utf-8")
        self._log = (shop.folder / f"{name}.log").open("wb")
        self.child = subprocess.Popen(
            [sys.executable, "-m", "relay", "canal-server", "--config", str(file)],
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        assert self.child.stdout is not None
        host, _, port = self.child.stdout.readline().removeprefix("canal-server: ").partition(":")
        self.address = (host, int(port))

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *_: object) -> None:
        self.child.kill()
        self.child.wait(20)
        assert self.child.stdout is not None
        self.child.stdout.close()
        self._log.close()


@pytest.mark.long
def test_another_server_takes_a_client_id_over_after_a_kill(full_shop: Shop) -> None:
    served = Served(full_shop, None)  # type: ignore[arg-type]  # only its rows are needed
    served.insert(1)
    with Process(full_shop, "one") as one, Process(full_shop, "two") as two:
        with connected(one.address) as active:
            active.ack_batch(rows(active, 1))
            served.insert(2)
            rows(active, 2)
            with connected(two.address) as standby:
                assert standby.get(10, 500).batch_id == -1, "one connection is active"
                one.child.kill()
                rows(standby, 2)
        two.child.send_signal(signal.SIGTERM)
        assert two.child.wait(60) == 0


@pytest.mark.long
def test_an_edit_while_the_instances_are_paused_leaves_no_row_behind(served: Served) -> None:
    """The order of steps that the documentation gives."""
    shop = served.shop

    def instance(verb: str, state: str) -> None:
        command = ["instance", verb, "shop", "--config", str(shop.installation.file)]
        assert CliRunner().invoke(app, command).exit_code == 0
        shop.relay.wait_for(state)

    served.insert(1)
    with connected(served.address) as client:
        client.ack_batch(rows(client, 1))
        instance("pause", "PAUSED")
        served.insert(2)
        assert client.get(10, 200).batch_id == -1
        shop.installation.map(topics=[{"logicDb": shop.name, "topic": f"{shop.name}-other"}])

        def is_refused() -> bool:
            return "TABLE_MOVED" in getattr(client.get(10, 200), "error_message", "")

        wait_until(is_refused, "the client to hear of the edit")
    with connected(served.address) as client:
        instance("resume", "RUNNING")
        client.ack_batch(rows(client, 2))


@pytest.mark.parametrize("start", [pytest.param("earliest", marks=pytest.mark.long), "latest"])
def test_a_table_of_a_new_topic_is_read_without_a_new_connection(
    new_installation: NewInstallation, mariadb: MariaDB, kafka: Kafka, tmp_path: Path, start: str
) -> None:
    """From its first row: the client came before the topic."""
    wide = {"filter_regex": "e2e_.*\\..*"}
    with (
        opened_shop(new_installation, mariadb, kafka, tmp_path, filter=wide) as shop,
        canal_server(shop, start=start) as served,
        connected(served.address) as client,
    ):
        assert client.get().batch_id == -1
        served.insert(1)
        client.ack_batch(rows(client, 1))
        names = (shop.name, f"{shop.name}_more")
        mariadb.execute(
            f"create database {names[1]}", f"create table {names[1]}.u (id int primary key)"
        )
        shop.installation.map_and_wait(
            topics=[{"logicDb": each, "topic": each} for each in names],
            dbs=[{"logicDb": each, "realDbs": each} for each in names],
            tbs=[{"logicTb": each, "realTbs": each} for each in ("t", "u")],
        )
        mariadb.execute(f"insert into {names[1]}.u values (7)")
        client.ack_batch(rows(client, 7))
        served.insert(2)
        rows(client, 2)

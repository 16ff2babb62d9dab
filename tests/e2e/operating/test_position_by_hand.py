"""Positions moved and transactions skipped by hand, under a relay that runs: fenced, previewed,
confirmed, written down.
"""

from contextlib import closing
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from typer.testing import CliRunner, Result

from deploy.embedded import Kafka, MariaDB, SqlServer
from relay.audit import AuditEntry, AuditTrail
from relay.cli import app
from relay.settings import ApiSettings
from tests.e2e.conftest import NewInstallation
from tests.support.relays.admin_server import TOKEN, admin_client
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic
from tests.support.waiting import wait_until


class Shop:
    """An installation under way: rows go in by number and are seen by number."""

    def __init__(self, installation: Installation, database: SqlServer, kafka: Kafka) -> None:
        self.name = installation.name
        self.file = installation.file
        self._database = database
        self._kafka = kafka
        self.trail = AuditTrail(installation.settings.kafka, installation.name)

    def insert(self, number: int, table: str = "t") -> tuple[str, str, str]:
        """Insert a row; the file, the offset and the GTID of its transaction."""
        place = self.ask("show master status")
        self._database.execute(f"insert into {self.name}.{table} values ({number}, 0, '')")
        return place[0], place[1], self.last_gtid()

    def ask(self, sql: str) -> tuple[str, ...]:
        """One row of the source's answer, as text."""
        with closing(self._database.connect()) as connection, connection.cursor() as cursor:
            cursor.execute(sql)
            return tuple(map(str, cursor.fetchone() or ()))

    def last_gtid(self) -> str:
        """The GTID of the transaction that the source logged last.

        Other tests write transactions of other domains, servers and tags to the same server.
        """
        if self._database.family == "mariadb":
            domains = self.ask("select @@gtid_binlog_pos")[0].split(",")
            return next(each for each in domains if each.startswith("0-"))
        server, executed = self.ask("select @@server_uuid, @@gtid_executed")
        own = next(each.strip() for each in executed.split(",") if server in each)
        untagged = list(takewhile(lambda part: part[0].isdigit(), own.split(":")[1:]))
        return f"{server}:{untagged[-1].rpartition('-')[2]}"

    def seen(self) -> list[Seen]:
        return sorted(
            read_topic(self._kafka.bootstrap, self.name),
            key=lambda each: (each.partition, each.offset),
        )

    def wait_for(self, numbers: list[int]) -> dict[int, list[str]]:
        """Wait until exactly these rows were published, each the given number of times.

        Return the order keys of each row, in the order of its messages.
        """
        wait_until(lambda: sorted(map(_number, self.seen())) == sorted(numbers), f"rows {numbers}")
        seen = self.seen()
        return {
            number: [each.order for each in seen if _number(each) == number] for number in numbers
        }

    def roma(self, *arguments: str, answer: str | None = None) -> Result:
        return CliRunner().invoke(app, [*arguments, "--config", str(self.file)], input=answer)

    def entries(self, act: str) -> list[AuditEntry]:
        return [entry for entry in self.trail.entries(100) if entry.act == act]


def _over_http(installation: Installation, place: tuple[str, str, str], last_order: str) -> None:
    """The same functions behind the admin's addresses.

    Nothing of this epoch lies before `place`, whatever minute it is.
    """
    to = {"file": place[0], "offset": int(place[1])}
    address = "/api/v1/instances/shop/position"
    with admin_client(
        installation.settings.model_copy(
            update={"api": ApiSettings(port=0, token=SecretStr(TOKEN))}
        )
    ) as admin:
        wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        found = admin.get(address).json()
        assert (
            found["epoch"],
            f"{found['execute_time']:013d}.{int(found['execute_position']):019d}",
        ) == (2, last_order)
        assert admin.get("/api/v1/instances/nobody/position").status_code == 404
        assert admin.post(f"{address}/preview", json=to).json()["code"] == "MOVE_REFUSED"
        preview = admin.post(f"{address}/preview", json={**to, "as_new": True}).json()
        assert (preview["kind"], preview["epoch"]) == ("as new", 3)
        assert preview["rows"] == sum(preview["tables"].values()) > 0
        assert preview["rows_are_whole"]
        target = {"file": place[0], "offset": place[1], "as_new": "true"}
        page = admin.get("/instances/shop/reposition", params=target)
        assert f"Between them: {preview['rows']:,} row" in page.text
        assert (
            admin.post(address, json={**to, "as_new": True, "confirm": "other"}).status_code == 400
        )
        assert (
            admin.post(f"{address}/skip", json={"gtid": "x", "confirm": "shop"}).status_code == 409
        )
        assert (
            admin.post(
                f"{address}/raise-floor", json={"above": "nobody", "confirm": "shop"}
            ).status_code
            == 409
        )
        ahead = {"gtid": "0-9-999999999", "confirm": "shop"}
        assert admin.post(f"{address}/skip", json=ahead, headers={"X-Author": "bob"}).json()[
            "skips"
        ] == ["0-9-999999999"]
        assert admin.post(f"{address}/skip", json={**ahead, "undo": True}).json()["skips"] == []
        newest = admin.get("/api/v1/audit?subject=shop&limit=2").json()
        assert [(each["actor"], each["act"]) for each in newest] == [
            ("api.token", "transaction.unskip"),
            ("bob", "transaction.skip"),
        ]
        admin.headers.pop("Authorization")
        assert admin.post(address, json={**to, "confirm": "shop"}).status_code == 401


def _number(seen: Seen) -> int:
    row: dict[str, Any] = (seen.value or {})["data"][0]
    return int(row["id"])


def test_a_running_instance_goes_back_forward_and_past_a_transaction(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, tmp_path: Path
) -> None:
    installation = new_installation(mariadb, kafka, routing={"unmapped_table": "stop"})
    installation.map(tbs=[{"logicTb": "t", "realTbs": "t"}])
    mariadb.execute(f"create table {installation.name}.stranger like {installation.name}.t")
    shop = Shop(installation, mariadb, kafka)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        shop.insert(1)
        early = shop.insert(2)
        shop.insert(3)
        had = shop.wait_for([1, 2, 3])

        back = ("position", "set", "shop", "--file", early[0], "--offset", early[1])
        asked = shop.roma(*back, answer="no\n")
        assert (
            asked.exit_code,
            "published AGAIN" in asked.output,
            "leads shop" in asked.output,
        ) == (
            1,
            True,
            True,
        ), asked.output
        assert shop.entries("position.set") == []
        done = shop.roma(
            *back, "--yes", "shop", "--comment", "a consumer lost them", "--actor", "ann"
        )
        assert done.exit_code == 0, done.output
        again = shop.wait_for([1, 2, 2, 3, 3])
        assert again == {1: had[1], 2: had[2] * 2, 3: had[3] * 2}
        relay.wait_for("RUNNING")
        (entry,) = shop.entries("position.set")
        assert (entry.actor, entry.subject, entry.comment, entry.after["replay_from"]) == (
            "ann",
            "shop",
            "a consumer lost them",
            f"{early[0]}:{early[1]}",
        )

        file, offset, gtid = shop.insert(4, "stranger")
        relay.wait_for("STOPPED", "UNMAPPED_NAME")
        assert shop.roma("position", "skip", "shop", "--gtid", gtid, "--yes", "shop").exit_code == 0
        relay.wait_for("RUNNING")
        shop.insert(5)
        orders = shop.wait_for([1, 2, 2, 3, 3, 5])
        assert orders[5][0] > max(had[3])
        wait_until(lambda: len(shop.entries("transaction.skipped")) == 1, "the skip written down")
        assert shop.entries("transaction.skipped")[0].after["rows_by_table"] == {
            f"{shop.name}.stranger": 1
        }

        assert relay.stop() == 0
        first = shop.insert(6)
        file, offset, _ = shop.insert(7)
        forward = shop.roma(
            "position", "set", "shop", "--file", file, "--offset", offset, "--yes", "shop"
        )
        assert (forward.exit_code, "LEFT OUT" in forward.output) == (0, True), forward.output
        relay.start()
        orders = shop.wait_for([1, 2, 2, 3, 3, 5, 7])
        assert (
            shop.roma(
                "position", "set", "shop", "--file", first[0], "--offset", first[1], "--yes", "shop"
            ).exit_code
            == 1
        )
        assert (
            shop.roma(
                "position",
                "set",
                "shop",
                "--file",
                first[0],
                "--offset",
                first[1],
                "--as-new",
                "--yes",
                "shop",
            ).exit_code
            == 0
        )
        orders = shop.wait_for([1, 2, 2, 3, 3, 5, 6, 7, 7])
        assert orders[5][0] < orders[7][0] < orders[6][0] < orders[7][1]
        _over_http(installation, early, max(orders[7]))
        shown = shop.roma("position", "show", "shop").output
        assert f"server     {shop.ask('select @@server_id')[0]}\n" in shown
        assert "epoch      2\n" in shown


@pytest.mark.parametrize("server", ["mariadb", "mysql_9"])
def test_a_skipped_xa_prepare_publishes_nothing_at_its_commit(
    server: str, request: pytest.FixtureRequest, kafka: Kafka, new_installation: NewInstallation
) -> None:
    """The relay reads the PREPARE in one session, and the COMMIT in another one."""
    database: SqlServer = request.getfixturevalue(server)
    installation = new_installation(database, kafka)
    shop, xid = Shop(installation, database, kafka), f"'{installation.name}'"
    table = f"{installation.name}.t"
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        database.execute(f"insert into {table} values (1, 0, '')")
        shop.wait_for([1])
        assert relay.stop() == 0
        rows = ",".join(f"({number}, 0, '')" for number in range(100, 150))
        changes = (
            f"insert into {table} values {rows}",
            f"update {table} set id = id + 100 where id between 100 and 149",
        )
        database.execute(f"xa start {xid}", *changes, f"xa end {xid}", f"xa prepare {xid}")
        gtid = shop.last_gtid()
        skip = shop.roma("position", "skip", "shop", "--gtid", gtid, "--yes", "shop")
        assert skip.exit_code == 0, skip.output
        relay.start()
        database.execute(f"insert into {table} values (2, 0, '')")
        shop.wait_for([1, 2])
        (entry,) = shop.entries("transaction.skipped")
        assert entry.after["rows_by_table"] == {table: 100}
        relay.kill()
        database.execute(f"xa commit {xid}", f"insert into {table} values (3, 0, '')")
        relay.start()
        orders = shop.wait_for([1, 2, 3])
        assert orders[1] < orders[2] < orders[3]
        relay.wait_for("RUNNING")


def test_a_replay_over_xa_rows_whose_keys_changed_keeps_the_order_keys(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    """The XA COMMIT takes more order keys than bytes of the binlog."""
    installation = new_installation(mariadb, kafka)
    shop, xid = Shop(installation, mariadb, kafka), f"'{installation.name}'"
    table = f"{installation.name}.t"
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        shop.insert(1)
        shop.wait_for([1])
        rows = ",".join(f"({number}, 0, '')" for number in range(100, 200))
        mariadb.execute(
            f"xa start {xid}",
            f"insert into {table} values {rows}",
            f"update {table} set id = id + 100 where id between 100 and 199",
            f"xa end {xid}",
            f"xa prepare {xid}",
            f"xa commit {xid}",
        )
        file, offset, _ = shop.insert(2)
        shop.insert(3)
        committed = [*range(100, 200), *range(100, 200), *range(200, 300)]
        had = shop.wait_for([1, 2, 3, *committed])
        back = ("position", "set", "shop", "--file", file, "--offset", offset, "--yes", "shop")
        done = shop.roma(*back)
        assert done.exit_code == 0, done.output
        again = shop.wait_for([1, 2, 2, 3, 3, *committed])
        assert {number: again[number] for number in (2, 3)} == {2: had[2] * 2, 3: had[3] * 2}


def test_a_skipped_compressed_transaction_takes_the_order_keys_of_its_rows(
    mysql_9: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    """Its rows have one offset, and take more order keys than bytes of the binlog."""
    installation = new_installation(mysql_9, kafka)
    shop, table = Shop(installation, mysql_9, kafka), f"{installation.name}.t"
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mysql_9.execute(f"insert into {table} values (1, 0, '')")
        shop.wait_for([1])
        file, begin = shop.ask("show binary log status")[:2]
        mysql_9.execute("set binlog_transaction_compression = on", *_there_and_back(table))
        gtid, end = shop.last_gtid(), shop.ask("show binary log status")[1]
        mysql_9.execute(f"insert into {table} values (2, 0, '')")
        committed = [*[*range(1000, 1200)] * 9, *[*range(2000, 2200)] * 8]
        had = shop.wait_for([1, 2, *committed])
        assert int(end) - int(begin) < len(committed)
        assert relay.stop() == 0
        for order in (("set", "--file", file, "--offset", begin), ("skip", "--gtid", gtid)):
            done = shop.roma("position", *order, "shop", "--yes", "shop")
            assert done.exit_code == 0, done.output
        relay.start()
        again = shop.wait_for([1, 2, 2, *committed])
        assert again == {**had, 2: had[2] * 2}
        wait_until(lambda: shop.entries("transaction.skipped") != [], "the skip written down")
        (entry,) = shop.entries("transaction.skipped")
        assert entry.after["rows_by_table"] == {table: 200 * 9}


def _there_and_back(table: str) -> tuple[str, ...]:
    """The statements of a transaction that changes the keys of 200 rows eight times."""
    rows = ",".join(f"({number}, 0, '')" for number in range(1000, 1200))
    updates = (
        f"update {table} set id = id + 1000 where id between 1000 and 1199",
        f"update {table} set id = id - 1000 where id between 2000 and 2199",
    )
    return "begin", f"insert into {table} values {rows}", *updates * 4, "commit"

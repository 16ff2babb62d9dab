"""An instance without a position starts at a time, under a server_id that the relay finds, and the
place can be looked up by hand.
"""

import time
import tomllib
from typing import Any

import httpx
import tomli_w
from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB
from relay.cli import app
from relay.settings import ApiSettings
from tests.e2e.conftest import NewInstallation
from tests.support.relays.admin_server import admin_client
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until


def _second(mariadb: MariaDB) -> int:
    with mariadb.connect() as connection, connection.cursor() as cursor:
        cursor.execute("select unix_timestamp()")
        (now,) = cursor.fetchone() or (0,)
        return int(now)


def _without_server_id(document: dict[str, Any]) -> dict[str, Any]:
    del document["instances"][0]["source"]["server_id"]
    return document


def test_what_was_committed_before_the_time_stays_out(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka, start={"timestamp": 0})
    name = installation.name
    mariadb.execute(
        f"insert into {name}.t values (1, 0, 'before')",
        "flush binary logs",
        f"insert into {name}.t values (2, 0, 'before')",
    )
    between_s = _second(mariadb) + 1
    wait_until(lambda: _second(mariadb) > between_s, "the source's clock")
    mariadb.execute(f"insert into {name}.t values (3, 0, 'after')")
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(between_s))
    document = _without_server_id(tomllib.loads(installation.file.read_text(encoding="utf-8")))
    document["instances"][0]["start"] = {"timestamp": moment}
    installation.file.write_text(tomli_w.dumps(document), encoding="utf-8")

    found = CliRunner().invoke(
        app,
        ["position", "search", "shop", "--timestamp", moment, "--config", str(installation.file)],
    )
    assert found.exit_code == 0, found.output
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == 1, "the row behind the time")
        assert relay.stop() == 0
    assert [(each.value or {})["data"][0]["id"] for each in read_topic(kafka.bootstrap, name)] == [
        "3"
    ]
    with admin_client(
        installation.settings.model_copy(update={"api": ApiSettings(port=0)})
    ) as admin:
        wait_until(
            lambda: admin.get("/readyz").status_code == httpx.codes.OK,
            "the admin to reach ZooKeeper",
        )
        place = admin.get(
            "/api/v1/instances/shop/position/search", params={"timestamp": moment}
        ).json()
        assert (
            f"position   {place['file']}:{place['offset']}\ngtid set   {place['gtid_set']}\n"
            in found.output
        )
        old = admin.get("/api/v1/instances/shop/position/search", params={"timestamp": "0"})
        assert (old.status_code, old.json()["code"]) == (502, "BINLOG_PURGED")
        assert (
            admin.get(
                "/api/v1/instances/nobody/position/search", params={"timestamp": moment}
            ).status_code
            == 404
        )


def test_a_time_older_than_the_oldest_file_is_a_named_stop(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka, start={"timestamp": 1_000_000_000_000})
    with RelayProcess(installation) as relay:
        relay.wait_for("STOPPED", "BINLOG_PURGED")
    status = installation.status()
    assert status is not None
    assert "oldest" in status.remedy

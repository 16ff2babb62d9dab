"""An instance without a position starts behind a GTID set, and later moves back behind another."""

import tomllib
from typing import Any

import httpx
import tomli_w
from pydantic import SecretStr
from typer.testing import CliRunner, Result

from deploy.embedded import Kafka, MariaDB
from relay.cli import app
from relay.settings import ApiSettings
from tests.e2e.conftest import NewInstallation
from tests.support.relays.admin_server import TOKEN, admin_client
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.sources.source_reading import executed
from tests.support.waiting import wait_until


def test_what_the_set_holds_stays_out_until_the_position_moves_back(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka, start={"at": "oldest"})
    name = installation.name
    mariadb.execute(f"insert into {name}.t values (1, 0, 'before')")
    early = executed(mariadb)
    mariadb.execute(
        f"insert into {name}.t values (2, 0, 'before')",
        "flush binary logs",
    )
    behind = executed(mariadb)
    mariadb.execute(f"insert into {name}.t values (3, 0, 'after')")
    _start_at(installation, {"gtid_set": behind})
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        wait_until(lambda: _ids(kafka, name) == ["3"], "the row behind the set")
        moved = _roma(installation, "--gtid-set", early, "--as-new", "--yes", "shop")
        assert moved.exit_code == 0, moved.output
        wait_until(lambda: _ids(kafka, name) == ["3", "2", "3"], "the rows behind the earlier set")
    _asked_by_mistake(installation)
    _asked_over_http(installation, early)


def _asked_by_mistake(installation: Installation) -> None:
    nowhere = _roma(installation, "--preview")
    assert (nowhere.exit_code, "a file and an offset, or a GTID set" in nowhere.output) == (1, True)
    half = _roma(installation, "--file", "b.000001")
    assert (half.exit_code, "must be given together" in half.output) == (2, True), half.output
    future = _roma(installation, "--gtid-set", "0-1-999999999", "--preview")
    assert (future.exit_code, "does not have the GTID set" in future.output) == (1, True)


def _asked_over_http(installation: Installation, early: str) -> None:
    address = "/api/v1/instances/shop/position/preview"
    with admin_client(
        installation.settings.model_copy(
            update={"api": ApiSettings(port=0, token=SecretStr(TOKEN))}
        )
    ) as admin:
        wait_until(
            lambda: admin.get("/readyz").status_code == httpx.codes.OK,
            "the admin to reach ZooKeeper",
        )
        preview = admin.post(address, json={"gtid_set": early, "as_new": True}).json()
        assert (preview["kind"], preview["offset"] > 4) == ("as new", True)
        assert admin.post(address, json={"as_new": True}).status_code == 422
        assert admin.post(address, json={"file": "b.000001"}).status_code == 422
        page = admin.get(
            "/instances/shop/reposition", params={"gtid_set": early, "as_new": "true"}
        ).text
        assert "What will happen" in page
        assert f'name="offset" value="{preview["offset"]}"' in page


def _start_at(installation: Installation, start: dict[str, Any]) -> None:
    document = tomllib.loads(installation.file.read_text(encoding="utf-8"))
    document["instances"][0]["start"] = start
    installation.file.write_text(tomli_w.dumps(document), encoding="utf-8")


def _ids(kafka: Kafka, topic: str) -> list[str]:
    seen = sorted(read_topic(kafka.bootstrap, topic), key=lambda each: each.order)
    return [(each.value or {})["data"][0]["id"] for each in seen]


def _roma(installation: Installation, *arguments: str) -> Result:
    return CliRunner().invoke(
        app, ["position", "set", "shop", *arguments, "--config", str(installation.file)]
    )

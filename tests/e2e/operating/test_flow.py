"""An instance stands still, goes on and goes slower while it runs, and loses and repeats nothing by
it.
"""

from time import monotonic

from pydantic import SecretStr
from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB
from relay.cli import app
from relay.settings import ApiSettings
from tests.e2e.conftest import NewInstallation
from tests.support.relays.admin_server import TOKEN, admin_client
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until


def ids(kafka: Kafka, topic: str) -> list[int]:
    """The ids of all rows that a committed reader sees, in the order of the pair."""
    return [
        int((each.value or {})["data"][0]["id"])
        for each in sorted(read_topic(kafka.bootstrap, topic), key=lambda each: each.order)
    ]


def roma(installation: Installation, command: str, *options: str) -> str:
    """What `roma instance` says; the test fails where it fails."""
    result = CliRunner().invoke(
        app,
        [
            "instance",
            command,
            "shop",
            "--config",
            str(installation.file),
            "--actor",
            "ann",
            *options,
        ],
    )
    assert result.exit_code == 0, result.output
    return result.output


def test_pause_resume_and_throttle(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(
        mariadb, kafka, buffer={"buffer_size": 16, "batch_mode": "ITEMSIZE"}
    )
    name = installation.name
    insert = f"insert into {name}.t select seq, 1, 'x' from {name}.seq_"
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"{insert}1_to_10")
        wait_until(lambda: ids(kafka, name) == list(range(1, 11)), "the first rows")
        assert "paused" in roma(installation, "pause", "--comment", "maintenance")
        assert relay.wait_for("PAUSED").held_back == "paused by ann maintenance"
        mariadb.execute(f"{insert}11_to_20")
        assert relay.wait_for("PAUSED").published_rows == 10
        relay.stop()
        relay.start()
        relay.wait_for("PAUSED")
        assert len(ids(kafka, name)) == 10
        with admin_client(
            installation.settings.model_copy(
                update={"api": ApiSettings(port=0, token=SecretStr(TOKEN))}
            )
        ) as admin:
            answer = admin.post("/api/v1/instances/shop/resume", headers={"X-Author": "bob"})
            assert (answer.status_code, answer.json()["paused"], answer.json()["by"]) == (
                200,
                False,
                "bob",
            )
            relay.wait_for("RUNNING")
            wait_until(lambda: len(ids(kafka, name)) == 20, "the rows of the pause")
            assert (
                admin.put("/api/v1/instances/shop/flow", json={"rows_per_second": 100}).status_code
                == 200
            )
            wait_until(lambda: relay.wait_for("RUNNING").held_back == "100 rows/s", "the limit")
            began_s = monotonic()
            mariadb.execute(*(f"{insert}{first}_to_{first + 49}" for first in range(21, 421, 50)))
            wait_until(lambda: len(ids(kafka, name)) == 420, "the throttled rows")
            assert monotonic() - began_s > 2.5, (
                "400 rows at 100 a second, a second's worth and the last step at once"
            )
            assert admin.get("/api/v1/instances/shop/flow").json()["rows_per_second"] == 100
        assert "rows/s as the configuration file says" in roma(installation, "throttle")
    assert ids(kafka, name) == list(range(1, 421))

"""What operators ask of copies: pause, resume, cancel, another topic, and what is refused."""

import pytest
from pydantic import SecretStr

from deploy.embedded import Kafka, SqlServer
from relay.settings import ApiSettings
from tests.e2e.conftest import NewInstallation
from tests.snapshots.commands import requests, roma, wait_for
from tests.support.relays.admin_server import TOKEN, admin_client
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic, topic_answers
from tests.support.waiting import wait_until


@pytest.mark.parametrize("server", [pytest.param("mysql_9", marks=pytest.mark.long), "mariadb"])
def test_a_request_is_paused_resumed_cancelled_lost_and_refused_by_name(
    server: str,
    kafka: Kafka,
    new_installation: NewInstallation,
    request: pytest.FixtureRequest,
) -> None:
    database: SqlServer = request.getfixturevalue(server)
    installation = new_installation(database, kafka)
    name = installation.name
    database.execute(
        *(f"insert into {name}.t values ({i}, {i}, 'v')" for i in range(1, 301)),
        f"create table {name}.without_key (n int)",
        f"create table {name}.kept_by_myisam (id int primary key) engine = myisam",
    )
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        database.execute("flush binary logs")  # nothing was published yet, and nothing follows

        number = roma(
            installation, "start", f"{name}.t", "--to-topic", f"{name}.copy", "--where", "id > 100"
        ).split()[0]
        assert wait_for(installation, number, "DONE")["rows"] == 200
        assert not topic_answers(kafka.bootstrap, name)
        seen = read_topic(kafka.bootstrap, f"{name}.copy")
        assert {(each.value or {})["data"][0]["id"] for each in seen} == {
            str(i) for i in range(101, 301)
        }

        for table, reason in (
            ("without_key", "neither a PRIMARY KEY nor a unique key"),
            ("kept_by_myisam", "no consistent snapshot"),
        ):
            number = roma(installation, "start", f"{name}.{table}").split()[0]
            assert reason in wait_for(installation, number, "REFUSED")["reason"]
        number = roma(installation, "start", f"{name}.t", "--where", "nothing = 1").split()[0]
        assert "nothing" in wait_for(installation, number, "REFUSED")["reason"]
        number = roma(installation, "start", f"{name}.absent").split()[0]
        assert "No table" in wait_for(installation, number, "DONE")["reason"]

        slow = roma(installation, "start", f"{name}.t", "--where", "sleep(0.05) = 0").split()[0]
        wait_until(
            lambda: any(each.snapshot for each in _rows(kafka, name)), "a chunk is published"
        )
        roma(installation, "pause", slow)
        wait_until(lambda: not _progress(installation, slow), "the request waits")
        urgent = roma(installation, "start", f"{name}.t", "--priority", "1").split()[0]
        assert wait_for(installation, urgent, "DONE")["rows"] == 300
        roma(installation, "resume", slow)
        wait_until(lambda: bool(_progress(installation, slow)), "the request goes on")

        store = installation.snapshots
        lost = store.find("shop", slow)
        assert lost is not None
        store.delete(lost)
        _start_by_rest(installation, slow, f"{name}.t")
        wait_until(lambda: _is_lost(installation, slow), "the lost request is shown")
        roma(installation, "cancel", slow, "--instance", "shop")
        wait_until(lambda: not _is_lost(installation, slow), "it is forgotten")
        relay.wait_for("RUNNING")


def _start_by_rest(installation: Installation, lost: str, table: str) -> None:
    """Copy one row by the admin, which also shows the lost request and refuses a repetition."""
    settings = installation.settings.model_copy(
        update={"api": ApiSettings(port=0, token=SecretStr(TOKEN))}
    )
    address = "/api/v1/snapshots"
    wish = {"tables": [table], "where": "id = 1 or sleep(5) = 1", "instances": ["shop"]}
    with admin_client(settings) as admin:
        wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        [started] = admin.post(address, json=wish).json()
        assert admin.post(address, json=wish).json()["code"] == "SNAPSHOT_REFUSED"
        leaving = {**wish, "where": "1)) UNION ALL SELECT 1, 2, 3 -- "}
        assert admin.post(address, json=leaving).json()["code"] == "SNAPSHOT_REFUSED"
        number = started["id"]
        assert admin.post(f"{address}/{number}/pause").json()[0]["state"] == "PAUSED"
        assert admin.post(f"{address}/{number}/cancel").json()[0]["state"] == "CANCELLED"
        assert admin.post(f"{address}/{number}/resume").status_code == 409
        [started] = admin.post(address, json={**wish, "where": "id = 1"}).json()

        def states() -> dict[str, str]:
            return {each["id"]: each["state"] for each in admin.get(address).json()}

        wait_until(lambda: states()[started["id"]] == "DONE", "the row is copied")
        wait_until(lambda: states().get(lost) == "LOST", "the lost request is shown")


def _rows(kafka: Kafka, topic: str) -> list[Seen]:
    return read_topic(kafka.bootstrap, topic) if topic_answers(kafka.bootstrap, topic) else []


def _progress(installation: Installation, number: str) -> object:
    [found] = [each for each in requests(installation) if each["id"] == number]
    return found["progress"]


def _is_lost(installation: Installation, number: str) -> bool:
    return any(each["lost"] for each in requests(installation) if each["id"] == number)

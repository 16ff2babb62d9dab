"""Instances come, change and go while the relay runs, and the others do not notice."""

from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families
from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB
from relay.cli import app
from relay.settings import ApiSettings
from relay.state import InstanceDocumentStore, InstanceStatus
from tests.e2e.conftest import NewInstallation
from tests.support.relays.admin_server import admin_client
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.relays.scraping import status_url
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until


def test_an_instance_is_added_changed_and_removed_and_another_runs_on(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    shop, crm = installation.name, f"{installation.name}_crm"
    mariadb.execute(f"create database {crm}", f"create table {crm}.t (id int primary key)")
    installation.map(
        topics=[{"logicDb": each, "topic": each} for each in (shop, crm)],
        dbs=[{"logicDb": each, "realDbs": each} for each in (shop, crm)],
    )
    store: InstanceDocumentStore = installation.definitions
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        first = store.save("crm", settings(installation, crm), None)
        wait_until(lambda: state(installation, "crm") == "RUNNING", "the new instance")
        mariadb.execute(
            f"insert into {crm}.t values (1)", f"insert into {shop}.t values (1, 1, 'a')"
        )
        wait_until(lambda: ids(kafka, crm) == [1], "its first row")

        second = store.save("crm", settings(installation, crm, message={"headers": "full"}), first)
        wait_until(
            lambda: relay.log.read_text().count("instance=crm reason='its settings changed") == 1,
            "the restart",
        )
        wait_until(lambda: state(installation, "crm") == "RUNNING", "the changed instance")
        mariadb.execute(f"insert into {crm}.t values (2)")
        wait_until(lambda: ids(kafka, crm) == [1, 2], "the next row, and the first one not again")

        operators_reach(installation, "crm")

        bad = store.save("bad", {"name": "bad"}, None)
        wait_until(
            lambda: state(installation, "bad") == "STOPPED", "a document that cannot be used"
        )
        assert "PUT /api/v1/instances/bad/settings" in next(
            each.remedy for each in installation.statuses() if each.name == "bad"
        )
        third = store.save("crm", {"source": "nowhere"}, second)
        wait_until(lambda: "instance=crm" in refused(relay), "the refusal")
        mariadb.execute(f"insert into {crm}.t values (3)")
        wait_until(lambda: ids(kafka, crm) == [1, 2, 3], "what runs goes on")

        store.remove(third)
        wait_until(lambda: state(installation, "crm") == "ENDED", "the end")
        wait_until(
            lambda: [each.instances for each in installation.membership.members()] == [("shop",)],
            "the other one alone",
        )
        assert states_shown(relay, "crm") == {"REMOVED": 1}
        store.remove(bad)
        assert listed(installation) == ["shop"]
        mariadb.execute(f"insert into {shop}.t values (2, 1, 'b')")
        wait_until(lambda: ids(kafka, shop) == [1, 2], "the other instance")
        of_shop = [
            line
            for line in relay.log.read_text().splitlines()
            if "instance=shop" in line and "mapping_set" not in line
        ]
        assert [line for line in of_shop if "instance=shop state=" not in line] == [], (
            "nothing happened to it"
        )
        assert relay.log.read_text().count("instance=shop state=RUNNING") == 1
    assert listed(installation) == ["shop"]


def states_shown(relay: RelayProcess, name: str) -> dict[str, float]:
    """The states of an instance in the relay's metrics."""
    text = httpx.get(f"{status_url(relay)}/metrics", trust_env=False, timeout=60).text
    samples = [
        sample for family in text_string_to_metric_families(text) for sample in family.samples
    ]
    found = [each for each in samples if each.labels.get("instance") == name]
    assert {each.name for each in found} == {"roma_instance_state"}
    return {each.labels["state"]: each.value for each in found}


def listed(installation: Installation) -> list[str]:
    """The instances that the admin shows."""
    with admin_client(
        installation.settings.model_copy(update={"api": ApiSettings(port=0)})
    ) as admin:
        wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        return [each["name"] for each in admin.get("/api/v1/instances").json()]


def settings(installation: Installation, schema: str, **more: Any) -> dict[str, Any]:
    """An instance like the file's, for another database and under a server_id of its own."""
    source = installation.document["instances"][0]["source"]
    return {
        "name": "crm",
        "source": {**source, "server_id": source["server_id"] + 7},
        "filter": {"filter_regex": f"{schema}\\..*"},
        **more,
    }


def operators_reach(installation: Installation, name: str) -> None:
    """What is done by hand knows an instance that stands in no file.

    One that nobody defined is named as such.
    """

    def ran(*arguments: str) -> tuple[int, str]:
        found = CliRunner().invoke(app, [*arguments, "--config", str(installation.file)])
        return found.exit_code, found.output

    assert ran("position", "show", name)[0] == 0
    assert ran("dead-letter", "list", "--instance", name) == (0, "")
    assert ran("instance", "pause", name)[0] == 0
    wait_until(lambda: state(installation, name) == "PAUSED", "the pause")
    assert ran("instance", "resume", name)[0] == 0
    wait_until(lambda: state(installation, name) == "RUNNING", "the end of the pause")
    code, output = ran("position", "show", "nobody")
    assert (code != 0, "known are shop, crm" in " ".join(output.split())) == (True, True)


def state(installation: Installation, name: str) -> str:
    found: dict[str, InstanceStatus] = {each.name: each for each in installation.statuses()}
    return found[name].state if name in found else ""


def refused(relay: RelayProcess) -> str:
    return "\n".join(
        line for line in relay.log.read_text().splitlines() if "instance_document_refused" in line
    )


def ids(kafka: Kafka, topic: str) -> list[int]:
    return sorted(
        int((each.value or {})["data"][0]["id"]) for each in read_topic(kafka.bootstrap, topic)
    )

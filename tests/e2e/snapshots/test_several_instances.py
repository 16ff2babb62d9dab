"""One request for the tables of several instances: each has its own progress, and its own end."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import httpx
import tomli_w
from pydantic import SecretStr

from deploy.embedded import Kafka, MariaDB
from relay.settings import ApiSettings, RelaySettings
from tests.e2e.conftest import NewInstallation
from tests.e2e.formats.zoo_topics import read_records
from tests.snapshots.commands import requests, roma
from tests.support.relays.admin_server import TOKEN, admin_client
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until

ROWS: Final = {"one": 150, "two": 120}
"""Rows of each instance's shard; keys of the second one begin after those of the first. The first
chunk has 100."""
ROWS_PER_SECOND: Final = 6
"""Limit of each copy: its second chunk follows the first one after 16 s. For so long the progress
is shown, so that a busy machine sees both at the same time."""
BUSY_S: Final = 180.0
"""Timeout in seconds of what two copies do at once on a busy machine."""
AS_A_BROWSER: Final = {"Accept": "text/html"}


def test_one_request_has_a_progress_for_each_shard_everywhere(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = with_two_instances(new_installation(mariadb, kafka), mariadb)
    name = installation.name
    with RelayProcess(installation), admin_of(installation) as admin:
        wait_until(lambda: states(installation) == {"RUNNING"}, "both instances run")
        told = roma(installation, "start", f"{name}.t", "--rows", str(ROWS_PER_SECOND))
        number = told.split()[0]
        assert told.splitlines() == [f"{number} is requested of {each}." for each in ROWS]
        wait_until(lambda: len(moving(installation, number)) == 2, "both shards are copied", BUSY_S)

        [one, two] = roma(installation, "list").splitlines()
        for line, instance, shard in ((one, "one", f"{name}_1"), (two, "two", f"{name}_2")):
            assert line.startswith(number)
            assert instance in line
            assert f"{shard}.t: " in line, "the table of this shard"
            assert "rows/s" in line
        shown = {each["instance"]: each for each in admin.get("/api/v1/snapshots").json()}
        assert {each["progress"]["table"] for each in shown.values()} == {
            f"{name}_1.t",
            f"{name}_2.t",
        }
        for instance, shard in (("one", f"{name}_1.t"), ("two", f"{name}_2.t")):
            page = admin.get(f"/instances/{instance}/copies", headers=AS_A_BROWSER).text
            assert f"copy-{number}" in page
            assert f"now {shard}" in page
        roma(installation, "pause", number, "--instance", "one")
        wait_until(
            lambda: ended(installation, number) == {"two": "DONE"}, "the other shard", BUSY_S
        )
        [paused] = [each for each in requests(installation) if each["instance"] == "one"]
        assert paused["state"] == "PAUSED"
        roma(installation, "resume", number)
        wait_until(lambda: set(ended(installation, number)) == set(ROWS), "both shards", BUSY_S)
        rows = {each["instance"]: each["rows"] for each in requests(installation)}
    assert rows == ROWS
    copied = [each for each in read_topic(kafka.bootstrap, name) if each.snapshot]
    assert {int((each.value or {})["data"][0]["id"]) for each in copied} == set(
        range(1, sum(ROWS.values()) + 1)
    )
    assert len(copied) == sum(ROWS.values())


def test_a_topic_of_another_format_refuses_the_copy_and_not_the_stream(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(mariadb, kafka)
    name = installation.name
    copy, rule = f"{name}.copy", {"rules": [{"topics": "*.copy", "format": "debezium-json"}]}
    with_two_instances(installation, mariadb, two={"topic": rule})
    with RelayProcess(installation) as relay:
        wait_until(lambda: states(installation) == {"RUNNING"}, "both instances run")
        number = start(installation, "one", "--to-topic", copy, "--rows", "1")
        wait_until(lambda: bool(read_records(kafka.bootstrap, copy)), "a chunk")
        other = start(installation, "two", "--to-topic", copy)
        refused = wait_for_end(installation, other)
        assert refused["state"] == "REFUSED"
        assert "FORMATS_DIFFER: Instance one publishes to topic" in refused["reason"]
        assert "Give a topic" in refused["reason"]
        again = start(installation, "two", "--to-topic", f"{name}.other.copy")
        assert wait_for_end(installation, again)["rows"] == ROWS["two"]

        # the copy of the first instance is under way when its settings change
        roma(installation, "pause", number)
        relay.kill()
        with_settings(installation, one={"topic": rule})
        relay.start()
        wait_until(lambda: states(installation) == {"RUNNING"}, "both instances run")
        roma(installation, "resume", number)
        refused = wait_for_end(installation, number)
        assert refused["state"] == "REFUSED"
        assert "FORMAT_CHANGED: This instance" in refused["reason"]
        mariadb.execute(f"insert into {name}_1.t values (-1, 0, 'live')")
        mariadb.execute(f"insert into {name}_2.t values (-2, 0, 'live')")
        wait_until(lambda: len(read_records(kafka.bootstrap, name)) == 2, "both streams")
        assert states(installation) == {"RUNNING"}
    assert all(b'"data":' in (each.value or b"") for each in read_records(kafka.bootstrap, copy))


def with_two_instances(
    installation: Installation, mariadb: MariaDB, **settings: dict[str, Any]
) -> Installation:
    """Map two shards to one logical database, and give each its own instance."""
    name = installation.name
    first = 1
    for number, (_, rows) in enumerate(ROWS.items(), 1):
        mariadb.execute(
            f"create database {name}_{number}",
            f"create table {name}_{number}.t (id int primary key, n int, v longtext)",
            f"insert into {name}_{number}.t select seq, 0, 'old' "
            f"from {name}.seq_{first}_to_{first + rows - 1}",
        )
        first += rows
    installation.map(
        dbs=[{"logicDb": name, "realDbs": f"{name}_1,{name}_2"}],
        topics=[{"logicDb": name, "topic": name}],
    )
    (only,) = installation.document["instances"]
    installation.document["instances"] = [
        {
            **only,
            "name": instance,
            "filter": {"filter_regex": rf"{name}_{number}\..*"},
            "source": {**only["source"], "server_id": only["source"]["server_id"] + number},
        }
        for number, instance in enumerate(ROWS, 1)
    ]
    with_settings(installation, **settings)
    return installation


def with_settings(installation: Installation, **settings: dict[str, Any]) -> None:
    """Change settings of instances, by their names."""
    for each in installation.document["instances"]:
        each.update(settings.get(each["name"], {}))
    installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")
    installation.settings = RelaySettings.model_validate({**installation.document, "placement": {}})


def start(installation: Installation, instance: str, *arguments: str) -> str:
    """Start a copy of the shard of one instance; return its number."""
    table = f"{installation.name}.t"
    return roma(installation, "start", table, "--instance", instance, *arguments).split()[0]


def states(installation: Installation) -> set[str]:
    return {each.state for each in installation.statuses()} if installation.statuses() else set()


def of(installation: Installation, number: str) -> list[dict[str, Any]]:
    return [each for each in requests(installation) if each["id"] == number]


def moving(installation: Installation, number: str) -> list[dict[str, Any]]:
    """The parts of a request whose progress is known and not at its end."""
    return [each for each in of(installation, number) if each["progress"].get("rows")]


def ended(installation: Installation, number: str) -> dict[str, str]:
    return {
        each["instance"]: each["state"]
        for each in of(installation, number)
        if each["state"] in ("DONE", "REFUSED")
    }


def wait_for_end(installation: Installation, number: str) -> dict[str, Any]:
    wait_until(lambda: bool(ended(installation, number)), f"the end of {number}")
    (found,) = of(installation, number)
    return found


@contextmanager
def admin_of(installation: Installation) -> Iterator[httpx.Client]:
    settings = installation.settings.model_copy(
        update={"api": ApiSettings(port=0, token=SecretStr(TOKEN))}
    )
    with admin_client(settings) as admin:
        wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        yield admin

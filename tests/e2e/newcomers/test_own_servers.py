"""What the README and the pages tell a newcomer to do with servers of their own, done on a single
broker.
"""

import re
import shlex
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from confluent_kafka.admin import AdminClient, NewTopic
from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB
from relay.cli import app
from relay.kafka import (
    TopicAdmin,
    TopicState,
    WantedTopic,
    position_topic_findings,
    row_topic_findings,
)
from relay.settings import KafkaSettings, load_settings
from tests.e2e.conftest import NewInstallation
from tests.servers.fixtures import FreshName
from tests.support.page_clients import saves_a_document, signed_in
from tests.support.relays.admin_server import admin_client
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until

_ROOT = Path(__file__).parents[3]
_README = (_ROOT / "README.md").read_text(encoding="utf-8")
_KAFKA_PAGE = (_ROOT / "docs" / "operations" / "kafka.md").read_text(encoding="utf-8")


def written(installation: Installation, kafka: dict[str, Any]) -> str:
    """The README's file with the addresses of this test's servers, and these settings of Kafka.

    Returns its path.
    """
    (text,) = re.findall(r"^```toml\n(# relay.toml\n.*?)^```$", _README, re.MULTILINE | re.DOTALL)
    document = tomllib.loads(text)
    here = installation.document
    document["installation"] = installation.name
    document["kafka"] = (
        document["kafka"] | {"bootstrap_servers": here["kafka"]["bootstrap_servers"]} | kafka
    )
    document["zookeeper"]["hosts"] = here["zookeeper"]["hosts"]
    document["instances"][0]["source"] |= {
        name: here["instances"][0]["source"][name] for name in ("host", "port", "user", "password")
    }
    document["instances"][0]["filter"] = here["instances"][0]["filter"]
    document["status"] = {"port": 0, "refresh_seconds": 0.2}
    installation.file.write_text(tomli_w.dumps(document), encoding="utf-8")
    return str(installation.file)


def test_the_readmes_file_runs_and_preflight_says_what_a_single_broker_needs(
    mariadb: MariaDB,
    kafka: Kafka,
    new_installation: NewInstallation,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ADMIN_TOKEN", "t")
    monkeypatch.setenv("COLUMNS", "400")
    installation = new_installation(mariadb, kafka)
    name = installation.name
    refused = CliRunner().invoke(app, ["preflight", "--config", written(installation, {})])
    assert refused.exit_code == 1
    assert "kafka.replication_factor" in refused.output
    assert "kafka.min_insync_replicas" in refused.output
    file = written(installation, {"replication_factor": 1, "min_insync_replicas": 1})
    accepted = CliRunner().invoke(app, ["preflight", "--config", file])
    assert accepted.exit_code == 0, accepted.output
    with RelayProcess(installation, ADMIN_TOKEN="t") as relay:
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'a')")
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == 1, "the row")
    state = TopicAdmin(installation.settings.kafka).state(name)
    assert state is not None
    assert state.partitions == 16


def test_the_readmes_first_user_edits_the_mapping_in_a_browser(
    mariadb: MariaDB,
    kafka: Kafka,
    new_installation: NewInstallation,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ADMIN_TOKEN", "t")
    installation = new_installation(mariadb, kafka)
    file = written(installation, {"replication_factor": 1, "min_insync_replicas": 1})
    (command,) = re.findall(r"^ +roma (users add .*?)  #", _README, re.MULTILINE)
    arguments = [file if each == "relay.toml" else each for each in shlex.split(command)]
    password = "correct horse battery"
    added = CliRunner().invoke(app, arguments, input=f"{password}\n{password}\n")
    assert added.exit_code == 0, added.output
    with admin_client(load_settings(installation.file)) as admin:
        wait_until(lambda: admin.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")
        with signed_in(str(admin.base_url), "ann", password) as browser:
            assert "Sign out" in browser.get("/users").text
            saves_a_document(browser)


def test_topics_made_as_the_page_says_are_accepted(kafka: Kafka, fresh_name: FreshName) -> None:
    settings = KafkaSettings(
        bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
    )
    commands = re.findall(r"^    (kafka-topics.sh .*--create.*)$", _KAFKA_PAGE, re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        options = shlex.split(command)
        name = f"{fresh_name('made')}.{options[options.index('--topic') + 1]}"
        config = dict(each.split("=") for flag, each in pairwise(options) if flag == "--config")
        partitions = int(options[options.index("--partitions") + 1])
        state = made(kafka, settings, name, partitions, config | {"min.insync.replicas": "1"})
        judge = (
            position_topic_findings if config["cleanup.policy"] == "compact" else row_topic_findings
        )
        found = judge(state, WantedTopic.of(settings, partitions, "forever"))
        assert [each.error.reason for each in found if not each.warning] == []


def test_a_topic_with_the_brokers_retention_is_refused_with_the_value_that_it_needs(
    kafka: Kafka, fresh_name: FreshName
) -> None:
    settings = KafkaSettings(
        bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
    )
    name = fresh_name("bare")
    state = made(kafka, settings, name, 4, {"retention.ms": "604800000"})
    (found,) = [
        each.error
        for each in row_topic_findings(state, WantedTopic.of(settings, 4, "forever"))
        if not each.warning
    ]
    assert f"--alter --topic {name} --add-config retention.ms=-1" in found.way_out


def made(
    kafka: Kafka, settings: KafkaSettings, name: str, partitions: int, config: dict[str, str]
) -> TopicState:
    """Make a topic as other programs do; return how the relay sees it."""
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})  # kept until the answer is here
    admin.create_topics([NewTopic(name, partitions, 1, config=config)])[name].result(60)
    wait_until(lambda: TopicAdmin(settings).state(name) is not None, "the topic")
    state = TopicAdmin(settings).state(name)
    assert state is not None
    return state

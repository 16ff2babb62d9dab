"""What preflight finds is what the relay meets: one sentence for both, on real servers."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import tomli_w
from structlog.testing import capture_logs

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from relay.deadline import Deadline
from relay.kafka import TopicAdmin, TopicSpec
from relay.pipeline import InstanceState
from relay.preflight import Verdict, preflight
from relay.settings import RelaySettings
from relay.state import Paths
from relay.zk import Session
from tests.e2e.conftest import NewInstallation
from tests.servers.running import factory
from tests.support.relays.relay_in_process import failures, meets, relayed
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.waiting import wait_until

FOREVER = {"retention.ms": "-1", "retention.bytes": "-1"}


@dataclass(frozen=True)
class Case:
    """One bad thing: settings that differ, what is done to the servers before and after, and what
    makes the relay meet it.

    `also`: checks that fail for the same cause, which the relay would meet later.
    """

    check: str
    instance: dict[str, Any] = field(default_factory=dict)
    kafka: dict[str, Any] = field(default_factory=dict)
    before: Sequence[str] = ()
    topic: TopicSpec | None = None
    met_by: Sequence[str] = ()
    after: Sequence[str] = ()
    also: Sequence[str] = ()


ROW = ("insert into {name}.t values (1, 1, 'a')",)


def global_setting(name: str, bad: str, good: str) -> Case:
    return Case(
        "source binlog settings",
        before=(f"set global {name}={bad}",),
        after=(f"set global {name}={good}",),
    )


def row_topic(partitions: int = 4, **settings: str) -> Case:
    asked = {**FOREVER, **{name.replace("_", "."): value for name, value in settings.items()}}
    return Case("topic", topic=TopicSpec("{name}", partitions, 1, asked), met_by=ROW)


FAILURES = {
    "wrong password": Case("source login", {"source": {"password": "wrong"}}),
    "unknown host": Case("source login", {"source": {"host": "no-such-host.invalid"}}),
    "row image": global_setting("binlog_row_image", "MINIMAL", "FULL"),
    "row metadata": Case(
        "source binlog settings",
        {"source": {"names": "table_map"}},
        before=("set global binlog_row_metadata=NO_LOG",),
        after=("set global binlog_row_metadata=FULL",),
    ),
    "statement format": global_setting("binlog_format", "STATEMENT", "ROW"),
    "mixed format": global_setting("binlog_format", "MIXED", "ROW"),
    "no REPLICATION SLAVE": Case(
        "source grants",
        {"source": {"user": "poor", "password": "poor"}},
        before=(
            "create user poor@'%' identified by 'poor'",
            "grant binlog monitor, select on *.* to poor@'%'",
        ),
        after=("drop user poor@'%'",),
    ),
    "server_id taken": Case(
        "source server_id", {"source": {"server_id": 4711}}, before=("set global server_id=4711",)
    ),
    "no such start": Case(
        "source start", {"start": {"at": "position", "journal_name": "binlog.999999"}}
    ),
    "fewer partitions": row_topic(partitions=2),
    "finite retention": row_topic(retention_ms="86400000"),
    "finite size": row_topic(retention_bytes="1000000"),
    "compacted rows": row_topic(cleanup_policy="compact"),
    "min ISR below the settings": Case(
        "position topic",
        kafka={"min_insync_replicas": 2},
        topic=TopicSpec(
            "{name}.position.shop", 1, 1, {"cleanup.policy": "compact", "min.insync.replicas": "1"}
        ),
    ),
    "position topic deletes": Case("position topic", topic=TopicSpec("{name}.position.shop", 1, 1)),
    "replicas that there are not": Case(
        "position topic", kafka={"replication_factor": 3}, also=("topic",)
    ),
    "transaction timeout": Case("transactions", {"transaction": {"timeout_ms": 900_001}}),
    "broken partition rule": Case(
        "settings", {"partition": {"partition_hash": ".*\\..*:(:$pk$"}}, met_by=ROW
    ),
}


@pytest.fixture(scope="module")
def own() -> Iterator[MariaDB]:
    """A server whose global settings these tests spoil and mend.

    Its SYSDATE follows the session's time.
    """
    with factory(MariaDB) as start:
        yield start({"sysdate_is_now": "ON"})


def settings_of(installation: Installation, **kafka: Any) -> RelaySettings:
    document = {**installation.document, "kafka": {**installation.document["kafka"], **kafka}}
    return RelaySettings.model_validate(document)


@pytest.mark.parametrize("case", FAILURES.values(), ids=FAILURES.keys())
def test_preflight_says_of_a_bad_thing_what_the_relay_says(
    own: MariaDB, kafka: Kafka, new_installation: NewInstallation, case: Case
) -> None:
    installation = new_installation(own, kafka, **case.instance)
    settings = settings_of(installation, **case.kafka)
    own.execute(*case.before)
    if case.topic is not None:
        spec = case.topic
        name = spec.name.format(name=installation.name)
        TopicAdmin(settings.kafka).create(TopicSpec(name, spec.partitions, 1, spec.settings))
    try:
        found = failures(preflight(settings))
        error = meets(
            settings,
            lambda: own.execute(*(sql.format(name=installation.name) for sql in case.met_by)),
        )
    finally:
        own.execute(*case.after)
    assert (error.code, error.reason, error.way_out) in [
        (each.code, each.sentence, each.remedy) for each in found
    ]
    assert {each.check for each in found} == {case.check, *case.also}


def test_of_a_prepared_xa_transaction_preflight_warns_before_its_commit_stops_the_relay(
    own: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(own, kafka)
    name = installation.name
    own.execute(
        "xa start 'x'", f"insert into {name}.t values (1, 1, 'a')", "xa end 'x'", "xa prepare 'x'"
    )
    (warned,) = [each for each in preflight(installation.settings) if each.check == "source XA"]
    error = meets(installation.settings, lambda: own.execute("xa commit 'x'"))
    assert (warned.verdict, warned.sentence.split(".")[0]) == (
        Verdict.WARNING,
        "1 XA transactions are prepared now",
    )
    assert error.code == "PREPARED_UNKNOWN"


def test_of_a_lost_position_both_say_where_the_instance_began(
    own: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(own, kafka)
    settings = installation.settings
    with relayed(settings) as instance:
        wait_until(lambda: instance.state is InstanceState.RUNNING, "running")
    assert failures(preflight(settings)) == []
    _delete_topic(kafka, f"{installation.name}.position.shop")
    found = failures(preflight(settings))
    error = meets(settings, lambda: None)
    assert [(each.code, each.sentence) for each in found] == [("POSITION_LOST", error.reason)]


def test_what_preflight_warns_of_the_relay_logs_once(
    own: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(own, kafka)
    settings, name = installation.settings, installation.name
    TopicAdmin(settings.kafka).create(
        TopicSpec(name, 4, 1, {**FOREVER, "min.insync.replicas": "1"})
    )
    own.execute("set global init_connect='set timestamp=unix_timestamp(now(6)) + 3600'")
    try:
        findings = preflight(settings)
        with capture_logs() as logs, relayed(settings) as instance:
            wait_until(lambda: instance.state is InstanceState.RUNNING, "running")
            own.execute(f"insert into {name}.t values (1, 1, 'a')")
            wait_until(lambda: instance.stats.totals.published_rows == 1, "the row")
    finally:
        own.execute("set global init_connect=''")
    # The relay speaks of its own instances; who reaches ZooKeeper is the installation's.
    warned = [
        each.sentence
        for each in findings
        if each.verdict is Verdict.WARNING and each.check != "zookeeper access"
    ]
    assert [sentence for sentence in warned if "min.insync.replicas=1" in sentence]
    assert [sentence for sentence in warned if "3600 s ahead" in sentence]
    logged = [line["reason"] for line in logs if line["event"] in ("topic_warning", "clocks_apart")]
    assert sorted(logged) == sorted(warned)
    assert failures(findings) == []


@pytest.mark.long
def test_of_zookeeper_both_say_the_same_and_the_other_checks_go_on(
    own: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(own, kafka)
    document = {**installation.document, "zookeeper": {"hosts": "127.0.0.1:1"}}
    installation.file.write_text(tomli_w.dumps(document), encoding="utf-8")
    with RelayProcess(installation) as relay:
        asked = roma("preflight", "--config", str(installation.file), "--json")
        answer = json.loads(asked.stdout)
        by_check = {each["check"]: each for each in answer["findings"]}
        said = (
            f"{by_check['zookeeper']['code']}: {by_check['zookeeper']['sentence']} "
            f"{by_check['zookeeper']['remedy']}"
        )
        wait_until(lambda: said in relay.log.read_text(errors="replace"), f"the relay says {said}")
    assert asked.returncode == answer["exit_code"] == 1
    assert by_check["kafka"]["verdict"] == by_check["source grants"]["verdict"] == "pass"
    assert by_check["mapping"]["sentence"] == "Not checked because ZooKeeper does not answer."


def test_a_good_configuration_passes_and_leaves_no_trace(
    own: MariaDB, kafka: Kafka, zookeeper: ZooKeeper, new_installation: NewInstallation
) -> None:
    installation = new_installation(own, kafka)
    asked = roma("preflight", "--config", str(installation.file), "--json")
    assert asked.returncode == 0, asked.stdout
    found = {each["check"]: each["verdict"] for each in json.loads(asked.stdout)["findings"]}
    assert found.pop("zookeeper access") == "warn", "the embedded ZooKeeper asks nobody to log in"
    assert set(found.values()) == {"pass"}, asked.stdout
    assert {
        "settings",
        "zookeeper",
        "mapping",
        "kafka",
        "transactions",
        "position",
        "topic",
        "source grants",
        "source start",
    } <= set(found)
    admin = TopicAdmin(installation.settings.kafka)
    assert (
        admin.state(installation.name) is admin.state(f"{installation.name}.position.shop") is None
    )
    session = Session(installation.settings.zookeeper)
    session.start(Deadline.after(60))
    assert session.children(Paths.of(installation.settings.zookeeper, installation.name).base) == (
        "mappings",
    )
    session.stop()


def test_preflight_does_not_disturb_a_running_relay(
    own: MariaDB, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(own, kafka)
    with relayed(installation.settings) as instance:
        wait_until(lambda: instance.state is InstanceState.RUNNING, "running")
        assert failures(preflight(installation.settings)) == []
        own.execute(f"insert into {installation.name}.t values (1, 1, 'a')")
        wait_until(lambda: instance.stats.totals.published_rows == 1, "the row")
        assert (instance.stats.totals.fences, instance.stats.totals.aborts) == (0, {})


def _delete_topic(kafka: Kafka, topic: str) -> None:
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    admin.delete_topics([topic])[topic].result(60)


def roma(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "relay", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
    )

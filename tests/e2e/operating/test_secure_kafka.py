"""Relay and admin reach Kafka by TLS and a login alone, with no more rights than the pages list,
and take another password and another certificate without a restart.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import tomli_w

from deploy.embedded import Kafka, MariaDB
from deploy.embedded.kafka_access import RIGHTS, allow
from deploy.embedded.processes.jvm import QUICK_START
from deploy.embedded.processes.ports import HOST
from relay.pipeline import InstanceState
from relay.position import KafkaPositionStore
from relay.preflight import Verdict, preflight
from relay.settings import RelaySettings, load_settings
from tests.e2e.conftest import NewInstallation
from tests.servers.running import factory
from tests.support.certificates import Authority
from tests.support.relays.admin_server import TOKEN, admin_client
from tests.support.relays.relay_in_process import failures, meets, relayed
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.topic_reading import read_topic
from tests.support.waiting import wait_until

USER: Final = "relay"
PLAIN_USERS: Final = {f"user{number}": f"password{number}" for number in range(12)}
OPERATIONS_PAGE: Final = Path(__file__).parents[3] / "docs" / "operations" / "kafka.md"
POSITION: Final = "{name}.position.shop"
Right = tuple[str, str, str]
"""Operation, kind of the resource, name of the resource."""


@dataclass(frozen=True)
class Broker:
    """A broker that asks for a login, the authority of its certificates, and the names of users
    that no test has used.
    """

    kafka: Kafka
    authority: Authority
    users: Iterator[str]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker on which only the plain listener, which stands for its operators, may do
    everything.
    """
    authority = Authority(tmp_path_factory.mktemp("authority"))
    with factory(Kafka) as start:
        kafka = start(
            RIGHTS,
            tls=authority.java_server(HOST),
            plain=PLAIN_USERS,
            heap="512m",
            jvm_options=QUICK_START,
        )
        yield Broker(kafka, authority, iter(PLAIN_USERS))


def listed_rights(name: str) -> list[Right]:
    """The rights that the page lists for every relay, for the installation `name` with the topic
    `name`.
    """
    rows = re.findall(
        r"^\| ([A-Za-z, ]+) \| (transactional id|topics?) (.+?) \| always",
        OPERATIONS_PAGE.read_text("utf-8"),
        re.MULTILINE,
    )
    found = [
        (
            operation,
            "transactional-id" if kind == "transactional id" else "topic",
            _resource(resource, name),
        )
        for operations, kind, resources in rows
        for operation in operations.split(", ")
        for resource in re.findall("`([^`]+)`", resources)
    ]
    assert len(found) > 10, found
    return found


def _resource(pattern: str, name: str) -> str:
    return (
        pattern.replace("<installation>", name)
        .replace("<instance>", "shop")
        .replace("<topic>", name)
    )


def ids(kafka: Kafka, topic: str) -> list[int]:
    """Return the ids of a topic's rows in the order of their order keys, read without TLS."""
    return [
        int((each.value or {})["data"][0]["id"])
        for each in sorted(read_topic(kafka.bootstrap, topic), key=lambda each: each.order)
    ]


def secure(installation: Installation, kafka: Kafka, authority: Authority, secrets: Path) -> None:
    """Let the installation's file name the listener with TLS and SASL.

    The password is a file below `secrets`.
    """
    installation.document["kafka"] |= {
        "bootstrap_servers": kafka.secure_bootstrap,
        "password": "${KAFKA_PASSWORD}",
        "client": {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": USER,
            "ssl.ca.location": str(authority.file),
        },
    }
    installation.document["secrets"] = {"folder": str(secrets)}
    installation.document["api"] = {"port": 0, "token": TOKEN}
    installation.file.write_text(tomli_w.dumps(installation.document), encoding="utf-8")


@pytest.mark.long
def test_password_and_certificate_are_exchanged_while_the_relay_runs(
    mariadb: MariaDB, broker: Broker, new_installation: NewInstallation, tmp_path: Path
) -> None:
    kafka, authority, secrets = broker.kafka, broker.authority, tmp_path / "secrets"
    secrets.mkdir()
    kafka.set_password(USER, "first")
    (secrets / "KAFKA_PASSWORD").write_text("first\n", encoding="utf-8")
    installation = new_installation(mariadb, kafka)
    secure(installation, kafka, authority, secrets)
    name = installation.name
    allow(kafka.bootstrap, f"User:{USER}", listed_rights(name))
    with (
        RelayProcess(installation) as relay,
        admin_client(load_settings(installation.file)) as admin,
    ):
        relay.wait_for("RUNNING")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'x')")
        wait_until(lambda: ids(kafka, name) == [1], "the first row")
        assert admin.get("/api/v1/instances/shop/position").status_code == 200

        kafka.set_password(USER, "second")
        mariadb.execute(f"insert into {name}.t values (2, 1, 'x')")
        wait_until(lambda: ids(kafka, name) == [1, 2], "a row over the connection that is open")
        (secrets / "KAFKA_PASSWORD").write_text("second\n", encoding="utf-8")
        kafka.tls = authority.java_server(HOST)
        kafka.restart()
        mariadb.execute(f"insert into {name}.t values (3, 1, 'x')")
        wait_until(
            lambda: ids(kafka, name) == [1, 2, 3],
            "a row after the login with the new password",
            seconds=90,
        )
        wait_until(lambda: relay.wait_for("RUNNING") is not None, "the relay")
        assert admin.get("/api/v1/instances/shop/position").status_code == 200
        assert not relay.ended


def test_what_the_broker_does_not_take_is_named(
    mariadb: MariaDB, broker: Broker, new_installation: NewInstallation, tmp_path: Path
) -> None:
    kafka, authority, secrets = broker.kafka, broker.authority, tmp_path / "secrets"
    secrets.mkdir()
    kafka.set_password(USER, "right")
    (secrets / "KAFKA_PASSWORD").write_text("wrong", encoding="utf-8")
    installation = new_installation(mariadb, kafka)
    secure(installation, kafka, authority, secrets)
    allow(kafka.bootstrap, f"User:{USER}", listed_rights(installation.name))
    with admin_client(load_settings(installation.file)) as admin:
        refused = admin.get("/api/v1/instances/shop/position")
        assert refused.status_code in (502, 503)
        (secrets / "KAFKA_PASSWORD").write_text("right", encoding="utf-8")
        assert admin.get("/api/v1/instances/shop/position").status_code == 200


def as_user(installation: Installation, broker: Broker, user: str) -> RelaySettings:
    """The installation's settings with a login by SASL PLAIN."""
    sasl = {"sasl.mechanism": "PLAIN", "sasl.username": user}
    login = {"security.protocol": "SASL_SSL", **sasl, "ssl.ca.location": str(broker.authority.file)}
    return _settings(
        installation,
        bootstrap_servers=broker.kafka.secure_bootstrap,
        password=PLAIN_USERS[user],
        client=login,
    )


def by_certificate(installation: Installation, broker: Broker) -> RelaySettings:
    """The installation's settings with a client certificate alone."""
    certificate, key = broker.authority.client("relay")
    files = {
        "ssl.ca.location": broker.authority.file,
        "ssl.certificate.location": certificate,
        "ssl.key.location": key,
    }
    login = {"security.protocol": "SSL", **{name: str(file) for name, file in files.items()}}
    return _settings(installation, bootstrap_servers=broker.kafka.mutual_bootstrap, client=login)


def _settings(installation: Installation, **kafka: Any) -> RelaySettings:
    return RelaySettings.model_validate(
        {**installation.document, "kafka": {**installation.document["kafka"], **kafka}}
    )


@pytest.mark.parametrize("login", ["certificate", "PLAIN"])
def test_a_relay_with_the_rights_that_the_page_lists_publishes(
    mariadb: MariaDB, broker: Broker, new_installation: NewInstallation, login: str
) -> None:
    installation, user = new_installation(mariadb, broker.kafka), next(broker.users)
    name = installation.name
    settings = (
        by_certificate(installation, broker)
        if login == "certificate"
        else as_user(installation, broker, user)
    )
    allow(
        broker.kafka.bootstrap,
        "User:CN=relay" if login == "certificate" else f"User:{user}",
        listed_rights(name),
    )
    before = preflight(settings)
    with relayed(settings) as instance:
        wait_until(lambda: instance.state is InstanceState.RUNNING, "running")
        mariadb.execute(f"insert into {name}.t values (1, 1, 'x')")
        wait_until(lambda: instance.stats.totals.published_rows == 1, "the row")
        assert instance.error is None
    assert ids(broker.kafka, name) == [1]
    for findings in (before, preflight(settings)):
        assert failures(findings) == []
        (transactions,) = [each for each in findings if each.check == "transactions"]
        assert transactions.verdict is Verdict.NOT_CHECKED
        assert "DescribeConfigs on the cluster" in transactions.remedy


@pytest.mark.parametrize(
    ("operation", "kind", "pattern"),
    [
        ("Write", "transactional-id", "{name}.shop"),
        *(("Create", "topic", topic) for topic in ("{name}", POSITION)),
        *(("DescribeConfigs", "topic", topic) for topic in ("{name}", POSITION)),
        *(("Write", "topic", topic) for topic in ("{name}", POSITION)),
        ("Read", "topic", POSITION),
    ],
)
def test_relay_and_preflight_name_the_right_that_lacks(
    mariadb: MariaDB,
    broker: Broker,
    new_installation: NewInstallation,
    operation: str,
    kind: str,
    pattern: str,
) -> None:
    installation, user = new_installation(mariadb, broker.kafka), next(broker.users)
    name = installation.name
    lacking = (operation, kind, pattern.format(name=name))
    rights = listed_rights(name)
    assert lacking in rights
    allow(broker.kafka.bootstrap, f"User:{user}", [each for each in rights if each != lacking])
    settings = as_user(installation, broker, user)
    if pattern == POSITION and operation != "Create":  # what a second start meets
        KafkaPositionStore(installation.settings.kafka, name, "shop").ensure_topic()
    error = meets(settings, lambda: mariadb.execute(f"insert into {name}.t values (1, 1, 'x')"))
    assert error.code == "KAFKA_NOT_PERMITTED"
    assert f"{operation} on {kind} {lacking[2]} (kafka-acls.sh" in error.way_out
    if kind == "topic":  # Kafka tells rights on transactional ids to nobody who does not use them
        assert error.way_out in {each.remedy for each in failures(preflight(settings))}
    allow(broker.kafka.bootstrap, f"User:{user}", [lacking])
    with relayed(settings) as instance:
        wait_until(
            lambda: instance.state in (InstanceState.RUNNING, InstanceState.STOPPED), "the relay"
        )
        mariadb.execute(f"insert into {name}.t values (2, 1, 'x')")
        wait_until(
            lambda: ids(broker.kafka, name)[-1:] == [2] or instance.error is not None, "the row"
        )
        assert instance.error is None

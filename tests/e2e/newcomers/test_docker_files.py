"""What docker-compose.yml mounts, on servers without Docker: account, shards, configuration,
mapping, relay, rows in the topic.
"""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import tomli_w

from deploy.embedded import Kafka, MariaDB, ZooKeeper
from relay.deadline import Deadline
from relay.settings import ZooKeeperSettings
from relay.state import Paths
from relay.zk import Session
from tests.servers.fixtures import FreshName
from tests.support.page_clients import signed_in
from tests.support.rows.topic_reading import Seen, read_topic
from tests.support.waiting import wait_until

_DOCKER: Final = Path(__file__).parents[3] / "deploy" / "docker"
_PASSWORD: Final = "of-the-account"
_ENVIRONMENT: Final = {
    **os.environ,
    "RELAY_PASSWORD": _PASSWORD,
    "ADMIN_TOKEN": "t",
    "no_proxy": "*",
}


def _account_sql() -> str:
    """What the account script hands to the server, the image's function replaced by one that
    prints.
    """
    script = (
        f'docker_process_sql() {{ cat; }}; source "{_DOCKER / "mariadb" / "10-relay-account.sh"}"'
    )
    environment = {**os.environ, "ROMA_RELAY_PASSWORD": _PASSWORD}
    return subprocess.run(
        ["bash", "-euc", script], env=environment, capture_output=True, text=True, check=True
    ).stdout


def _statements(sql: str) -> list[str]:
    return [each.strip() for each in sql.split(";\n") if each.strip()]


@pytest.fixture
def source(new_mariadb: Callable[..., MariaDB]) -> MariaDB:
    server = new_mariadb()
    server.execute("DROP USER 'relay'@'%'", *_statements(_account_sql()))
    server.execute(
        *_statements((_DOCKER / "mariadb" / "20-shards.sql").read_text(encoding="utf-8"))
    )
    return server


@pytest.fixture
def configuration(
    source: MariaDB, kafka: Kafka, zookeeper: ZooKeeper, fresh_name: FreshName, tmp_path: Path
) -> Path:
    """deploy/docker/relay.toml with the addresses of this machine."""
    document: dict[str, Any] = tomllib.loads((_DOCKER / "relay.toml").read_text(encoding="utf-8"))
    document["installation"] = fresh_name("docker")
    document["kafka"]["bootstrap_servers"] = kafka.bootstrap
    document["zookeeper"]["hosts"] = zookeeper.hosts
    document["status"] = {"port": 0}
    document["api"] |= {"host": "127.0.0.1", "port": 0}
    document["instances"][0]["source"] |= {"host": source.host, "port": source.port}
    file = tmp_path / "relay.toml"
    file.write_text(tomli_w.dumps(document), encoding="utf-8")
    return file


@contextmanager
def _running(command: str, configuration: Path) -> Iterator[Path]:
    """`roma relay` or `roma api` as a child process; yields its log."""
    log = configuration.with_suffix(f".{command}.log")
    with log.open("wb") as written:
        arguments = [sys.executable, "-m", "relay", command, "--config", str(configuration)]
        child = subprocess.Popen(arguments, env=_ENVIRONMENT, stdout=written, stderr=written)
    try:
        yield log
    finally:
        child.terminate()
        child.wait(40)


def _save_mapping(admin_log: Path) -> None:
    lines: list[str] = []

    def answers() -> bool:
        lines[:] = [
            line
            for line in admin_log.read_text(encoding="utf-8").splitlines()
            if line.startswith("admin: ")
        ]
        return bool(lines)

    wait_until(answers, "the admin to answer")
    command = [
        sys.executable,
        str(_DOCKER / "save_mapping.py"),
        lines[0].removeprefix("admin: "),
        str(_DOCKER / "mapping.json"),
    ]
    wait_until(
        lambda: (
            subprocess.run(command, env=_ENVIRONMENT, capture_output=True, check=False).returncode
            == 0
        ),
        "the mapping saved",
    )


def _row(seen: Seen) -> tuple[str, str, str, tuple[str, ...]]:
    value = seen.value or {}
    return value["database"], value["table"], value["data"][0]["name"], seen.tags


def _first_user(configuration: Path) -> str:
    command = [sys.executable, str(_DOCKER / "first_user.py"), str(configuration)]
    kept = configuration.with_name("admin-password")
    ran = subprocess.run(
        [*command, str(kept)], env=_ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def _admin_url(log: Path) -> str:
    (line,) = re.findall(r"^admin: (\S+)$", log.read_text(encoding="utf-8"), re.MULTILINE)
    return str(line)


def test_the_user_that_is_printed_signs_in_and_later_starts_say_where_the_password_is(
    configuration: Path, zookeeper: ZooKeeper
) -> None:
    settings_file = tomllib.loads(configuration.read_text(encoding="utf-8"))
    printed = _first_user(configuration)
    (password,) = re.findall(r"as admin with the password (\S+)$", printed, re.MULTILINE)
    kept = configuration.with_name("admin-password")
    assert (kept.read_text().strip(), kept.stat().st_mode & 0o777) == (password, 0o600)
    again = _first_user(configuration)
    assert password not in again
    assert str(kept) in again
    with _running("api", configuration) as log:
        _save_mapping(log)  # the token of the file still writes
        with signed_in(_admin_url(log), "admin", password) as browser:
            assert "customer" in browser.get("/mappings").text
    stores = ZooKeeperSettings(hosts=zookeeper.hosts)
    session = Session(stores)
    session.start(Deadline.after(60))
    try:
        session.delete(Paths.of(stores, settings_file["installation"]).accounts)
    finally:
        session.stop()
    assert password in _first_user(configuration)  # a ZooKeeper that lost its users
    kept.unlink()
    assert _first_user(configuration) == "there are users already; none is added\n"


def test_two_shards_meet_in_one_topic(configuration: Path, source: MariaDB, kafka: Kafka) -> None:
    with _running("api", configuration) as admin_log:
        _save_mapping(admin_log)
    with _running("relay", configuration) as relay_log:
        source.execute("UPDATE shop_01.customer_01 SET email = 'ada@example.com' WHERE id = 1")
        wait_until(
            lambda: len(read_topic(kafka.bootstrap, "shop")) == 3,
            f"three rows, see {relay_log}",
        )
    tags = ("customer", "contact")
    rows = [
        ("shop", "customer", "Ada", tags),
        ("shop", "customer", "Ada", tags),
        ("shop", "customer", "Grace", tags),
    ]
    assert sorted(map(_row, read_topic(kafka.bootstrap, "shop"))) == rows

"""docker-compose.yml and its image, looked at without an engine."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from relay.route import MappingSet, problems
from relay.settings import load_settings
from tests.unit.deploy.compose_model import Compose

_ROOT = Path(__file__).parents[3]
_DOCKER = _ROOT / "deploy" / "docker"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return dict(yaml.safe_load((_ROOT / "docker-compose.yml").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def compose(document: dict[str, Any]) -> Compose:
    return Compose.model_validate(document)


def test_only_what_the_specification_knows_stands_there(
    document: dict[str, Any], compose: Compose
) -> None:
    assert {key for key in document if not key.startswith("x-")} == {"name", "services", "volumes"}
    assert set(compose.services) == {
        "mariadb",
        "zookeeper",
        "kafka",
        "admin",
        "user",
        "mapping",
        "relay",
    }


def test_a_dependency_waits_for_what_can_come_true(compose: Compose) -> None:
    for name, service in compose.services.items():
        for other, dependency in service.depends_on.items():
            needed = compose.services[other]
            assert dependency.condition != "service_healthy" or needed.healthcheck is not None, (
                name,
                other,
            )
            assert (
                dependency.condition != "service_completed_successfully" or needed.restart == "no"
            ), (name, other)


def test_every_volume_is_declared_and_every_mounted_file_is_there(compose: Compose) -> None:
    sources = [
        volume.split(":")[0] for service in compose.services.values() for volume in service.volumes
    ]
    assert {each for each in sources if not each.startswith("./")} == set(compose.volumes)
    assert all((_ROOT / each).exists() for each in sources if each.startswith("./"))


def test_secrets_can_be_replaced_from_outside(compose: Compose) -> None:
    for service in compose.services.values():
        for name, value in service.environment.items():
            if "PASSWORD" in name or "TOKEN" in name:
                assert re.fullmatch(r"\$\{ROMA_[A-Z_]+:-demo-[a-z]+\}", str(value)), name


def test_the_source_is_set_up_as_the_relay_needs_it(compose: Compose) -> None:
    wanted = {
        "--log-bin=binlog",
        "--binlog-format=ROW",
        "--binlog-row-image=FULL",
        "--binlog-row-metadata=FULL",
    }
    assert wanted <= set(compose.services["mariadb"].command or ())


def test_the_relays_file_is_right_and_names_the_services(
    monkeypatch: pytest.MonkeyPatch, compose: Compose
) -> None:
    for name in compose.services["relay"].environment:
        monkeypatch.setenv(name, "x")
    settings = load_settings(_DOCKER / "relay.toml")
    hosts = {
        settings.kafka.bootstrap_servers.split(":")[0],
        settings.zookeeper.hosts.split(":")[0],
        settings.instances[0].source.host,
    }
    assert hosts <= set(compose.services)
    assert compose.services["relay"].ports[0].endswith(f":{settings.status.port}")
    assert compose.services["admin"].ports[0].endswith(f":{settings.api.port}")


def test_the_example_mapping_is_accepted() -> None:
    bodies = {
        name: json.dumps(body)
        for name, body in json.loads((_DOCKER / "mapping.json").read_text(encoding="utf-8")).items()
    }
    assert not problems(bodies)
    assert MappingSet.compile(1, bodies).logical_database("shop_02") == "shop"


def test_the_image_runs_without_root_and_gets_only_what_it_needs() -> None:
    dockerfile = (_DOCKER / "Dockerfile").read_text(encoding="utf-8")
    copied = set(re.findall(r"^COPY (?!--from)(.+) \S+$", dockerfile, re.MULTILINE))
    allowed = set(
        re.findall(r"^!(.+)$", (_ROOT / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert {name for line in copied for name in line.split()} <= allowed
    assert re.findall(r"^USER (.+)$", dockerfile, re.MULTILINE) == ["10001"]
    assert all(
        re.search(r":\d+\.\d+", image)
        for image in re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)
    )


def test_compose_itself_agrees() -> None:
    program = shutil.which("docker-compose")
    command = [program] if program else ["docker", "compose"]
    if not program and (
        not shutil.which("docker")
        or subprocess.run([*command, "version"], capture_output=True, check=False).returncode
    ):
        pytest.skip("no Docker Compose here; the other tests hold the file to the specification")
    ran = subprocess.run(
        [*command, "config", "--quiet"], cwd=_ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr

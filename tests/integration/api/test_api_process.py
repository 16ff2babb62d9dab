"""`python -m api` as an operator starts and stops it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import tomli_w

from deploy.embedded import ZooKeeper
from tests.servers.fixtures import FreshName
from tests.support.waiting import wait_until

ROOT = Path(__file__).resolve().parents[3]


def config_file(folder: Path, hosts: str, installation: str, port: int = 0) -> Path:
    document = {
        "installation": installation,
        "kafka": {"bootstrap_servers": "127.0.0.1:1"},
        "zookeeper": {"hosts": hosts},
        "api": {"port": port, "token": "s3cr3t"},
        "log": {"format": "json"},
    }
    path = folder / "relay.toml"
    path.write_bytes(tomli_w.dumps(document).encode())
    return path


@contextmanager
def admin_process(config: Path, *program: str) -> Iterator[subprocess.Popen[str]]:
    """Start the admin by `python -m api`, or by other words."""
    command = [sys.executable, "-m", *(program or ("api",)), "--config", str(config)]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "LANG": "C"}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("admin: http://127.0.0.1:"), line
    return line.removeprefix("admin: ").strip()


def wait_for_zookeeper(client: httpx.Client) -> None:
    wait_until(lambda: client.get("/readyz").status_code == 200, "the admin to reach ZooKeeper")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_in_order(
    zookeeper: ZooKeeper, fresh_name: FreshName, tmp_path: Path, number: signal.Signals
) -> None:
    with admin_process(config_file(tmp_path, zookeeper.hosts, fresh_name("api"))) as process:
        with httpx.Client(base_url=address(process), trust_env=False, timeout=60) as client:
            wait_for_zookeeper(client)
            assert client.get("/api/v1/configs/ROMA_GROUP").json() == {}
        process.send_signal(number)
        output, log = process.communicate(timeout=120)
    assert (process.returncode, output) == (0, "")
    assert "Traceback" not in log
    assert "s3cr3t" not in log


def test_it_stops_without_zookeeper_too(tmp_path: Path) -> None:
    with admin_process(config_file(tmp_path, "127.0.0.1:1", "roma")) as process:
        assert (
            httpx.get(f"{address(process)}/healthz", trust_env=False, timeout=60).status_code == 200
        )
        process.terminate()
        _, log = process.communicate(timeout=120)
    assert process.returncode == 0, log
    assert "Traceback" not in log


def test_a_taken_port_is_one_sentence(tmp_path: Path, zookeeper: ZooKeeper) -> None:
    with admin_process(
        config_file(tmp_path, zookeeper.hosts, "roma", port=zookeeper.port)
    ) as process:
        output, log = process.communicate(timeout=120)
    assert (process.returncode, output) == (2, "")
    assert log.splitlines()[-1].startswith(
        "CONFIGURATION: api.host and api.port: the process cannot listen on "
        f"127.0.0.1:{zookeeper.port}"
    )


def test_a_configuration_that_cannot_be_used_is_one_sentence(tmp_path: Path) -> None:
    with admin_process(tmp_path / "missing.toml") as process:
        _, log = process.communicate(timeout=120)
    assert process.returncode == 2
    assert log.startswith("CONFIGURATION: ")
    assert "missing.toml cannot be read" in log


def test_every_line_of_log_and_output_is_an_object_with_json(
    zookeeper: ZooKeeper, fresh_name: FreshName, tmp_path: Path
) -> None:
    config = config_file(tmp_path, zookeeper.hosts, fresh_name("api"))
    config.write_text(config.read_text().replace('"json"', '"console"'))
    with admin_process(config, "relay", "api", "--json") as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        assert list(told) == ["admin"]
        health = httpx.get(f"{told['admin']}/healthz", trust_env=False, timeout=60)
        assert health.status_code == 200
        process.terminate()
        output, log = process.communicate(timeout=120)
    assert (process.returncode, output) == (0, "")
    assert "file_token_holds_all_rights" in {json.loads(line)["event"] for line in log.splitlines()}


def test_the_token_of_the_file_is_an_admin_and_each_start_warns_once_without_it(
    zookeeper: ZooKeeper, fresh_name: FreshName, tmp_path: Path
) -> None:
    config = config_file(tmp_path, zookeeper.hosts, fresh_name("api"))
    for start in range(2):
        with admin_process(config) as process:
            with httpx.Client(base_url=address(process), trust_env=False, timeout=60) as client:
                wait_for_zookeeper(client)
                user = f"/api/v1/users/user{start}"
                grant = {"role": "viewer"}
                assert client.put(user, json=grant).status_code == 401
                wrong = {"Authorization": "Bearer s3cr3t0"}
                assert client.put(user, json=grant, headers=wrong).status_code == 401
                client.headers["Authorization"] = "Bearer s3cr3t"
                assert client.put(user, json=grant).status_code == 201
                assert len(client.get("/api/v1/users").json()) == start + 1
            process.terminate()
            output, log = process.communicate(timeout=120)
        assert "s3cr3t" not in output + log
        lines = [json.loads(line) for line in log.splitlines()]
        [warning] = [each for each in lines if each["event"] == "file_token_holds_all_rights"]
        assert warning["level"] == "warning"
        assert "roma tokens add" in warning["remedy"]
        assert "api.token" in warning["remedy"]

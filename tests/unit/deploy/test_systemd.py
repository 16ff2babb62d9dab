"""The systemd units: systemd's own check where it is installed, and what must stand in them
everywhere.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from relay.app.workers.worker import END_SECONDS
from relay.cli import app

_FOLDER = Path(__file__).parents[3] / "deploy" / "systemd"
_UNITS = ("roma-relay.service", "roma-admin.service", "roma-canal-server.service")


def _settings(unit: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in re.findall(
        r"^([A-Za-z]+)=(.*)$", (_FOLDER / unit).read_text(encoding="utf-8"), re.MULTILINE
    ):
        found.setdefault(name, []).append(value)
    return found


@pytest.mark.parametrize("unit", _UNITS)
def test_it_comes_back_after_a_crash_and_not_after_a_wrong_configuration(unit: str) -> None:
    settings = _settings(unit)
    assert settings["Restart"] == ["always"]
    assert settings["RestartPreventExitStatus"] == [
        "2"
    ]  # the exit code of `roma` for a configuration that cannot be used
    assert settings["StartLimitIntervalSec"] == ["0"]
    assert settings["KillSignal"] == ["SIGTERM"]


def test_the_relay_has_time_to_stop() -> None:
    assert (
        float(_settings("roma-relay.service")["TimeoutStopSec"][0]) >= 40
    )  # 20 s for the instances, the sockets and ZooKeeper after them


def test_the_parent_of_workers_kills_late_ones_before_systemd_does() -> None:
    waits_s = float(_settings("roma-relay.service")["TimeoutStopSec"][0])
    assert waits_s > END_SECONDS


@pytest.mark.parametrize("unit", _UNITS)
def test_it_runs_without_root_and_sees_little(unit: str) -> None:
    settings = _settings(unit)
    wanted = {
        "DynamicUser": "yes",
        "NoNewPrivileges": "yes",
        "ProtectSystem": "strict",
        "ProtectHome": "yes",
        "CapabilityBoundingSet": "",
    }
    assert {name: settings[name] for name in wanted} == {
        name: [value] for name, value in wanted.items()
    }


@pytest.mark.parametrize("unit", _UNITS)
def test_its_command_is_one_of_ours(unit: str) -> None:
    command, *options = _settings(unit)["ExecStart"][0].split()[1:]
    assert options[0] == "--config"
    assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0


@pytest.mark.parametrize("unit", _UNITS)
@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_understands_it(unit: str, tmp_path: Path) -> None:
    text = (
        (_FOLDER / unit)
        .read_text(encoding="utf-8")
        .replace("/opt/roma/bin/roma", f'"{sys.executable}"')
    )
    (tmp_path / unit).write_text(text, encoding="utf-8")
    ran = subprocess.run(
        ["systemd-analyze", "verify", tmp_path / unit], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")

"""The delivered alert rules, asked about what a real relay shows while it runs, is paused, and
after its death.
"""

import subprocess
from pathlib import Path
from typing import Any, Final

import httpx
import yaml
from prometheus_client.parser import text_string_to_metric_families
from typer.testing import CliRunner

from deploy.embedded import Kafka, MariaDB
from deploy.embedded.servers.prometheus import promtool
from relay.cli import app
from tests.e2e.conftest import NewInstallation
from tests.support.relays.relay_process import RelayProcess
from tests.support.relays.scraping import status_url

_RULES: Final = Path(__file__).parents[3] / "deploy" / "monitoring" / "roma.rules.yml"
_MINUTES: Final = 10
"""How long each scrape is taken to last."""


def scraped(relay: RelayProcess) -> dict[str, float]:
    """Every series that the relay shows, in Prometheus' notation."""
    text = httpx.get(f"{status_url(relay)}/metrics", trust_env=False, timeout=60).text
    return {
        f"{sample.name}{{{', '.join(f'{name}={value!r}' for name, value in sample.labels.items())}}}": sample.value  # noqa: E501
        for family in text_string_to_metric_families(text)
        if family.name.startswith("roma_")
        for sample in family.samples
        if "le" not in sample.labels
    }


def firing(scrapes: list[dict[str, float]], at_minute: int, folder: Path) -> str:
    """What promtool says when told that no alert fires then; empty where it agrees."""
    names = sorted({name for each in scrapes for name in each})
    series = [{"series": name, "values": " ".join(_values(name, scrapes))} for name in names]
    up = {
        "series": "up{job='roma-relay'}",
        "values": " ".join(f"{int(bool(each))}x{_MINUTES - 1}" for each in scrapes),
    }
    rules: list[str] = [
        rule["alert"]
        for group in yaml.safe_load(_RULES.read_text())["groups"]
        for rule in group["rules"]
        if "alert" in rule
    ]
    asked: dict[str, Any] = {
        "rule_files": [str(_RULES)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [*series, up],
                "alert_rule_test": [
                    {"eval_time": f"{at_minute}m", "alertname": name, "exp_alerts": []}
                    for name in rules
                ],
            }
        ],
    }
    file = folder / "asked.yml"
    file.write_text(yaml.safe_dump(asked))
    ran = subprocess.run(
        [promtool(), "test", "rules", file],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return "" if ran.returncode == 0 else ran.stdout + ran.stderr


def _values(name: str, scrapes: list[dict[str, float]]) -> list[str]:
    values: list[str] = []
    for each in scrapes:
        value = str(each[name]).replace("nan", "NaN") if name in each else "_"
        values += ["stale", *["_"] * (_MINUTES - 1)] if value == "_" else [value] * _MINUTES
    return values


def test_a_pause_raises_nothing_and_a_death_does(
    mariadb: MariaDB, kafka: Kafka, new_installation: NewInstallation, tmp_path: Path
) -> None:
    installation = new_installation(mariadb, kafka)
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        running = scraped(relay)
        assert (
            CliRunner()
            .invoke(app, ["instance", "pause", "shop", "--config", str(installation.file)])
            .exit_code
            == 0
        )
        relay.wait_for("PAUSED")
        paused = scraped(relay)
        relay.kill()
    assert firing([running, running], 15, tmp_path) == ""
    assert firing([running, paused], 18, tmp_path) == ""
    for before in (running, paused):
        told = firing([before, {}], 18, tmp_path)
        assert all(
            name in told for name in ("RomaInstanceNotRunning", "RomaNoRelay", "RomaRelayDown")
        ), told
        assert "RomaLag" not in told

"""The alert rules that are delivered: promtool's own tests, and that they speak of metrics and
sections that exist.
"""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.embedded.servers.prometheus import promtool
from relay.pipeline import InstanceState
from relay.telemetry.instance_metrics import REMOVED
from relay.telemetry.metrics import LABELS

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "deploy" / "monitoring"
RULES = [
    rule
    for group in yaml.safe_load((FOLDER / "roma.rules.yml").read_text())["groups"]
    for rule in group["rules"]
    if "alert" in rule
]
of_rules = pytest.mark.parametrize("rule", RULES, ids=[rule["alert"] for rule in RULES])


@pytest.mark.parametrize(
    "arguments",
    [("check", "config", "prometheus.yml"), ("test", "rules", "roma.rules.test.yml")],
    ids=["configuration", "rules"],
)
def test_promtool_accepts_them(arguments: tuple[str, ...]) -> None:
    ran = subprocess.run(
        [promtool(), *arguments],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@of_rules
def test_a_rule_has_a_severity_words_and_a_section_of_the_page(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in ("critical", "warning", "info")
    assert rule["annotations"].keys() == {"summary", "description", "runbook_url"}
    page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    headings = re.findall(r"^## (.+)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert anchor in [heading.lower() for heading in headings]


@of_rules
def test_a_rule_asks_for_metrics_and_states_that_exist(rule: dict[str, Any]) -> None:
    named = {re.sub("_total$", "", name) for name in re.findall(r"roma_\w+", rule["expr"])}
    assert named <= LABELS.keys()
    states = {
        state
        for each in re.findall(r'state=~?"([A-Z|]+)"', rule["expr"])
        for state in each.split("|")
    }
    assert states <= {*InstanceState, REMOVED}


def test_every_rule_is_tested() -> None:
    tested = (FOLDER / "roma.rules.test.yml").read_text()
    assert [rule["alert"] for rule in RULES if rule["alert"] not in tested] == []

"""A refused login is worth another attempt when a password or a certificate's file has changed, of
any server of the instance.
"""

from pathlib import Path

import pytest

from relay.pipeline.source_logins import login_state
from relay.settings import InstanceSettings, RelaySettings
from relay.settings.secrets import Substituted, Variable


def instance(folder: Path) -> InstanceSettings:
    def secret(name: str) -> Substituted:
        return Substituted.of(Variable(name, folder))

    source = {
        "host": "a",
        "user": "u",
        "password": secret("SOURCE"),
        "tls_ca": str(folder / "ca.pem"),
    }
    standby = {"host": "b", "password": secret("STANDBY")}
    document = {
        "kafka": {"bootstrap_servers": "k"},
        "zookeeper": {"hosts": "z"},
        "instances": [{"name": "shop", "source": {**source, "standby": standby}}],
    }
    return RelaySettings.model_validate(document).instances[0]


@pytest.mark.parametrize("changed", ["SOURCE", "STANDBY", "ca.pem"])
def test_each_part_of_a_login_counts(tmp_path: Path, changed: str) -> None:
    for name in ("SOURCE", "STANDBY", "ca.pem"):
        (tmp_path / name).write_text("first", encoding="utf-8")
    settings = instance(tmp_path)
    before = login_state(settings)
    assert login_state(settings) == before
    (tmp_path / changed).write_text("another", encoding="utf-8")
    assert login_state(settings) != before


def test_a_file_that_is_missing_for_a_moment_is_another_state(tmp_path: Path) -> None:
    for name in ("SOURCE", "STANDBY", "ca.pem"):
        (tmp_path / name).write_text("first", encoding="utf-8")
    settings = instance(tmp_path)
    before = login_state(settings)
    (tmp_path / "ca.pem").unlink()
    assert login_state(settings) != before

"""`roma mapping save`, `show`, `history` and `rollback` on a real ZooKeeper."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import tomli_w
from typer.testing import CliRunner, Result

from deploy.embedded import ZooKeeper
from relay.cli import app
from tests.servers.fixtures import FreshName

Roma = Callable[..., Result]
TOPICS = [{"logicDb": "shop", "topic": "shop"}]
DBS = [{"logicDb": "shop", "realDbs": "shop_01,shop_02"}]


@pytest.fixture
def name(fresh_name: FreshName) -> str:
    return fresh_name("mapping")


@pytest.fixture
def roma(zookeeper: ZooKeeper, name: str, tmp_path: Path) -> Roma:
    config = tmp_path / "relay.toml"
    document = {
        "installation": name,
        "zookeeper": {"hosts": zookeeper.hosts},
        "kafka": {"bootstrap_servers": "127.0.0.1:1"},
    }
    config.write_text(tomli_w.dumps(document), encoding="utf-8")
    return lambda *arguments: CliRunner().invoke(
        app, ["mapping", *arguments, "--config", str(config)]
    )


def write(folder: Path, **documents: object) -> str:
    folder.mkdir(exist_ok=True)
    for each, body in documents.items():
        (folder / f"{each}.json").write_text(json.dumps(body), encoding="utf-8")
    return str(folder)


def test_a_mapping_is_saved_shown_listed_and_rolled_back(
    roma: Roma, name: str, tmp_path: Path
) -> None:
    assert "No mapping was saved yet." in roma("show").output
    folder = write(tmp_path / "mappings", topics=TOPICS, dbs=DBS)
    assert "Not done" in roma("save", folder, "--yes", "another").output
    told = roma("save", folder, "--yes", name, "--actor", "ann", "--comment", "first")
    assert "Mapping set 1 is in force." in told.output
    assert (
        roma("save", folder, "--yes", name).output
        == "Nothing changes: mapping set 1 has the same documents.\n"
    )
    other = write(tmp_path / "other", topics=[{"logicDb": "shop", "topic": "elsewhere"}])
    preview = roma("save", other, "--preview")
    assert (preview.exit_code, preview.output) == (
        0,
        "Documents that differ from mapping set 1: com.pajk.Roma.topics.\n",
    )
    assert "Mapping set 2 is in force." in roma("save", other, "--base", "1", "--yes", name).output
    assert "elsewhere" in roma("show").output
    assert "elsewhere" not in roma("show", "--set", "1").output
    assert (
        "Mapping set 3 is in force."
        in roma("rollback", "1", "--yes", name, "--actor", "bob").output
    )
    lines = roma("history").output.splitlines()
    assert [line[:7] for line in lines] == ["* set 3", "  set 2", "  set 1"]
    assert lines[0].endswith("bob  (documents of set 1)")
    assert lines[2].endswith("ann  first")
    assert roma("show", "--into", str(tmp_path / "out")).exit_code == 0
    assert json.loads((tmp_path / "out" / "com.pajk.Roma.topics.json").read_text()) == TOPICS


def test_what_cannot_come_into_force_is_refused(roma: Roma, name: str, tmp_path: Path) -> None:
    alone = roma("save", write(tmp_path / "alone", dbs=DBS), "--yes", name)
    assert (alone.exit_code, "com.pajk.Roma.dbs at " in alone.output) == (1, True)
    whole = write(tmp_path / "whole", topics=TOPICS, dbs=DBS)
    stale = roma("save", whole, "--base", "7", "--yes", name)
    assert (
        stale.exit_code,
        "Mapping set 0 is in force, and the edit was made from set 7." in stale.output,
    ) == (1, True)
    assert roma("rollback", "9", "--yes", name).exit_code == 1
    assert "No mapping was saved yet." in roma("history").output

"""`roma mapping save`, `show`, `history` and `rollback` on a real ZooKeeper."""

import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import tomli_w
from typer.testing import CliRunner, Result

from deploy.embedded import Kafka, ZooKeeper
from relay.audit import AuditTrail
from relay.cli import app
from relay.cli.confirm import confirm
from relay.cli.mappings import sets
from relay.settings import KafkaSettings
from tests.servers.fixtures import FreshName

Roma = Callable[..., Result]
TOPICS = [{"logicDb": "shop", "topic": "shop"}]
DBS = [{"logicDb": "shop", "realDbs": "shop_01,shop_02"}]


@pytest.fixture
def name(fresh_name: FreshName) -> str:
    return fresh_name("mapping")


@pytest.fixture
def brokers(kafka: Kafka) -> KafkaSettings:
    return KafkaSettings(
        bootstrap_servers=kafka.bootstrap, replication_factor=1, min_insync_replicas=1
    )


@pytest.fixture
def roma(zookeeper: ZooKeeper, brokers: KafkaSettings, name: str, tmp_path: Path) -> Roma:
    config = tmp_path / "relay.toml"
    document = {
        "installation": name,
        "zookeeper": {"hosts": zookeeper.hosts},
        "kafka": brokers.model_dump(exclude_none=True),
    }
    config.write_text(tomli_w.dumps(document), encoding="utf-8")
    return lambda *arguments, **more: CliRunner().invoke(
        app, ["mapping", *arguments, "--config", str(config)], **more
    )


def write(folder: Path, **documents: object) -> str:
    folder.mkdir(exist_ok=True)
    for each, body in documents.items():
        (folder / f"{each}.json").write_text(json.dumps(body), encoding="utf-8")
    return str(folder)


def test_a_mapping_is_saved_shown_listed_and_rolled_back(
    roma: Roma, brokers: KafkaSettings, name: str, tmp_path: Path
) -> None:
    assert "No mapping was saved yet." in roma("show").output
    folder = write(tmp_path / "mappings", topics=TOPICS, dbs=DBS)
    assert "Nothing was changed" in roma("save", folder, "--yes", "another").output
    told = roma("save", folder, "--yes", name, "--actor", "ann", "--comment", "first")
    assert "Mapping set 1 is active." in told.output
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
    assert "Mapping set 2 is active." in roma("save", other, "--base", "1", "--yes", name).output
    assert "elsewhere" in roma("show").output
    assert "elsewhere" not in roma("show", "--set", "1").output
    assert (
        "Mapping set 3 is active." in roma("rollback", "1", "--yes", name, "--actor", "bob").output
    )
    lines = roma("history").output.splitlines()
    assert [line[:7] for line in lines] == ["* set 3", "  set 2", "  set 1"]
    assert lines[0].endswith("bob  (documents of set 1)")
    assert lines[2].endswith("ann  first")
    listed = [json.loads(line) for line in roma("history", "--json").output.splitlines()]
    assert [(each["number"], each["in_force"]) for each in listed] == [
        (3, True),
        (2, False),
        (1, False),
    ]
    assert (listed[0]["author"], listed[0]["restored_from"]) == ("bob", 1)
    assert roma("show", "--into", str(tmp_path / "out")).exit_code == 0
    assert json.loads((tmp_path / "out" / "com.pajk.Roma.topics.json").read_text()) == TOPICS
    entries = AuditTrail(brokers, name).entries(10)[::-1]
    assert [(each.act, each.before.get("set"), each.after.get("set")) for each in entries] == [
        ("mapping.saved", 0, 1),
        ("mapping.saved", 1, 2),
        ("mapping.rolled-back", 2, 3),
    ]
    assert (entries[0].actor, entries[0].comment, entries[2].actor) == ("ann", "first", "bob")
    assert entries[1].after["documents"] == {"com.pajk.Roma.dbs": 1, "com.pajk.Roma.topics": 2}
    assert entries[2].after["restored_from"] == 1


def test_what_cannot_come_into_force_is_refused(
    roma: Roma, brokers: KafkaSettings, name: str, tmp_path: Path
) -> None:
    alone = roma("save", write(tmp_path / "alone", dbs=DBS), "--yes", name)
    assert (alone.exit_code, "com.pajk.Roma.dbs at " in alone.output) == (1, True)
    whole = write(tmp_path / "whole", topics=TOPICS, dbs=DBS)
    stale = roma("save", whole, "--base", "7", "--yes", name)
    assert (
        stale.exit_code,
        "Mapping set 0 is active, and the edit was made from set 7." in stale.output,
    ) == (1, True)
    assert roma("rollback", "9", "--yes", name).exit_code == 1
    assert "No mapping was saved yet." in roma("history").output
    assert AuditTrail(brokers, name).entries(10) == ()


EDITOR = """import pathlib, sys
step = pathlib.Path(__file__).with_suffix(".steps")
texts = step.read_text().splitlines() if step.exists() else []
topics = next(file for file in sys.argv[1:] if "topics" in file)
pathlib.Path(topics).write_text(texts.pop(0))
step.write_text("\\n".join(texts))
"""


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set $EDITOR to a program that writes these texts into the topics, one each time it runs."""
    program = tmp_path / "an editor"
    program.write_text(EDITOR, encoding="utf-8")
    monkeypatch.setenv("EDITOR", shlex.join([sys.executable, str(program)]))
    monkeypatch.delenv("VISUAL", raising=False)

    def writes(*texts: str) -> None:
        program.with_suffix(".steps").write_text("\n".join(texts), encoding="utf-8")

    return writes


def topics_text(topic: str) -> str:
    return json.dumps([{"logicDb": "shop", "topic": topic}])


def folder_of(told: Result) -> Path:
    """The folder that an edit named."""
    found = re.search(r"are in (\S+)\.$", told.output, re.MULTILINE)
    assert found is not None, told.output
    return Path(found[1])


def test_an_edit_shows_its_lines_and_comes_into_force(
    roma: Roma, name: str, tmp_path: Path, editor: Callable[..., None]
) -> None:
    roma("save", write(tmp_path / "mappings", topics=TOPICS, dbs=DBS), "--yes", name)
    editor(topics_text("elsewhere"))
    told = roma("edit", "--yes", name, "--comment", "moved")
    assert told.exit_code == 0, told.output
    assert f"+{topics_text('elsewhere')}" in told.output.splitlines()
    assert "Mapping set 2 is active." in told.output
    assert not folder_of(told).exists()
    differing = roma("diff")
    assert differing.exit_code == 1
    assert f"-{json.dumps(TOPICS)}" in differing.output.splitlines()
    assert roma("diff", "2", "2").exit_code == 0
    assert "tags" not in roma("show").output


def test_a_refused_edit_is_edited_again_or_stays_in_its_folder(
    roma: Roma, name: str, tmp_path: Path, editor: Callable[..., None]
) -> None:
    roma("save", write(tmp_path / "mappings", topics=TOPICS, dbs=DBS), "--yes", name)
    editor("[{", topics_text("mended"))
    told = roma("edit", "--yes", name, input="y\n")
    assert "Mapping set 2 is active." in told.output
    editor("[{")
    told = roma("edit", "--yes", name, input="n\n")
    assert told.exit_code == 1
    kept = folder_of(told) / "com.pajk.Roma.topics.json"
    assert kept.read_text() == "[{"
    assert "mended" in roma("show").output


def test_an_edit_beside_another_one_is_refused_and_kept(
    roma: Roma,
    name: str,
    tmp_path: Path,
    editor: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    roma("save", write(tmp_path / "mappings", topics=TOPICS, dbs=DBS), "--yes", name)
    other = write(tmp_path / "other", topics=[{"logicDb": "shop", "topic": "first"}])
    editor(topics_text("second"))

    def saved_meanwhile(*given: str | None) -> None:
        monkeypatch.setattr(sets, "confirm", confirm)
        assert "Mapping set 2 is active." in roma("save", other, "--yes", name).output

    monkeypatch.setattr(sets, "confirm", saved_meanwhile)
    told = roma("edit", "--yes", name)
    assert told.exit_code == 1
    assert "Mapping set 2 is active, and the edit was made from set 1." in told.output
    assert (folder_of(told) / "com.pajk.Roma.topics.json").read_text() == topics_text("second")
    assert "first" in roma("show").output


def test_an_editor_that_fails_saves_nothing(roma: Roma, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "false")
    assert "ended with code 1" in roma("edit").output
    monkeypatch.setenv("EDITOR", "/no/such/editor")
    told = roma("edit")
    assert (told.exit_code, "cannot be started" in told.output) == (1, True)
    assert "No mapping was saved yet." in roma("history").output


def test_an_edit_for_a_program_is_one_object(
    roma: Roma, name: str, tmp_path: Path, editor: Callable[..., None]
) -> None:
    roma("save", write(tmp_path / "mappings", topics=TOPICS, dbs=DBS), "--yes", name)
    asked = roma("edit", "--json")
    assert (asked.exit_code, asked.stdout) == (2, "")
    editor(topics_text("elsewhere"))
    told = roma("edit", "--json", "--yes", name)
    assert told.exit_code == 0, told.output
    found = json.loads(told.stdout)
    assert f"+{topics_text('elsewhere')}" in found.pop("sentences")
    changed = ["com.pajk.Roma.topics"]
    assert found == {"base": 1, "changed": changed, "problems": [], "set": 2, "folder": None}


def test_a_refused_edit_for_a_program_names_problems_and_folder(
    roma: Roma, name: str, tmp_path: Path, editor: Callable[..., None]
) -> None:
    roma("save", write(tmp_path / "mappings", topics=TOPICS, dbs=DBS), "--yes", name)
    editor("[{")
    told = roma("edit", "--json", "--yes", name, input="y\n")
    assert told.exit_code == 1
    found = json.loads(told.stdout)
    assert [each["document"] for each in found["problems"]] == ["com.pajk.Roma.topics"]
    assert (Path(found["folder"]) / "com.pajk.Roma.topics.json").read_text() == "[{"


def test_what_an_editor_prints_is_not_in_the_output_for_a_program(
    roma: Roma, name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "echo saved")
    told = roma("edit", "--json", "--yes", name)
    assert json.loads(told.stdout)["changed"] == []
    printed = capfd.readouterr()
    assert (printed.out, printed.err.startswith("saved ")) == ("", True)

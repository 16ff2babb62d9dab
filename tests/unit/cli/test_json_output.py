"""`--json` of every command: one object with sentences and fields, without a question."""

import ast
import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from relay.cli import app
from relay.cli.confirm import confirm
from relay.cli.json_output import add_json, fields
from relay.settings import RelaySettings

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "operations" / "json.md"
JOBS = sorted(
    each.stem for each in (ROOT / "spark_jobs").glob("*.py") if "def main(" in each.read_text()
)
"""The modules that are a command of their own, with their own options."""


def commands(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each command, also groups that act without a further word."""
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            yield from commands(each, f"{path}{name} ")
        if not hasattr(each, "commands") or each.invoke_without_command:
            yield f"{path}{name}", each


COMMANDS = dict(commands(get_command(app)))


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_it(name: str) -> None:
    job = name.replace(" ", "_")
    if job not in JOBS:
        assert any("--json" in option.opts for option in COMMANDS[name].params)


@pytest.mark.parametrize("job", JOBS)
def test_every_job_has_it_and_is_a_command(job: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert job.replace("_", " ") in COMMANDS
    with pytest.raises(SystemExit):
        import_module(f"spark_jobs.{job}").main(["--help"])
    assert "--json" in capsys.readouterr().out


def test_a_page_describes_the_output_of_each_command() -> None:
    rows = re.findall(r"^\| (`.+?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    described = [each for row in rows for each in re.findall(r"`([a-z -]+)`", row)]
    assert sorted(described) == sorted(COMMANDS)


def test_the_page_names_each_field_beside_the_sentences() -> None:
    """A field that is added or renamed changes what programs read, and so the page."""
    page = PAGE.read_text(encoding="utf-8").partition("## Fields beside the sentences")[2]
    named = {
        each
        for row in re.findall(r"^\| `.+? \| (.+) \|$", page, re.MULTILINE)
        for each in re.findall(r"`(\w+)`", row)
    }
    assert named == {
        keyword.arg
        for file in (ROOT / "relay" / "cli").rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "fields"
        for keyword in call.keywords
    }


def test_sentences_and_fields_are_one_object(tmp_path: Path) -> None:
    file = tmp_path / "relay.toml"
    file.write_text('[kafka]\nbootstrap_servers = "k"\n[zookeeper]\nhosts = "z"\n')
    told = CliRunner().invoke(app, ["zookeeper", "identity", "--config", str(file), "--json"])
    sentence = "none: zookeeper.auth is not set"
    assert json.loads(told.stdout) == {"identity": None, "sentences": [sentence]}
    plain = CliRunner().invoke(app, ["zookeeper", "identity", "--config", str(file)])
    assert plain.stdout == "none: zookeeper.auth is not set\n"


@pytest.fixture
def small() -> typer.Typer:
    program = typer.Typer()

    @program.command()
    def act(name: str, yes: str | None = None, fail: bool = False) -> None:
        """Do something after a confirmation."""
        if fail:
            typer.echo("REFUSED: no.", err=True)
            raise typer.Exit(1)
        typer.echo(f"{name} é will be done.")
        confirm(name, yes)
        fields(name=name, count=2)
        typer.echo("Done.")
        raise typer.Exit(3)

    add_json(program)
    return program


def test_fields_and_the_exit_code_are_kept(small: typer.Typer) -> None:
    told = CliRunner().invoke(small, ["shop", "--yes", "shop", "--json"])
    assert told.exit_code == 3
    assert json.loads(told.stdout) == {
        "name": "shop",
        "count": 2,
        "sentences": ["shop é will be done.", "Done."],
    }


def test_nobody_is_asked(small: typer.Typer) -> None:
    told = CliRunner().invoke(small, ["shop", "--json"], input="shop\n")
    assert told.exit_code == 2
    assert "give --yes shop" in told.output.replace("\n", " ")
    assert "Done." not in told.output
    asked = CliRunner().invoke(small, ["shop"], input="shop\n")
    assert asked.exit_code == 3
    assert "Done." in asked.output


def test_an_error_before_any_result_leaves_standard_output_empty(small: typer.Typer) -> None:
    told = CliRunner().invoke(small, ["shop", "--fail", "--json"])
    assert (told.exit_code, told.stdout, told.stderr) == (1, "", "REFUSED: no.\n")


def test_an_export_of_csv_is_no_json(tmp_path: Path) -> None:
    told = CliRunner().invoke(
        app, ["audit", "export", "--config", str(tmp_path), "--format", "csv", "--json"]
    )
    assert (told.exit_code, told.stdout) == (2, "")


def test_the_value_of_a_dead_letter_alone_is_no_json(tmp_path: Path) -> None:
    letter = ["--instance", "shop", "1-1", "--value", "--json"]
    told = CliRunner().invoke(app, ["dead-letter", "show", "--config", str(tmp_path), *letter])
    assert (told.exit_code, told.stdout) == (2, "")


@pytest.mark.parametrize(("options", "form"), [((), "console"), (("--json",), "json")])
def test_the_option_of_a_relay_is_the_form_of_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], form: str
) -> None:
    file = tmp_path / "relay.toml"
    file.write_text('[kafka]\nbootstrap_servers = "k"\n[zookeeper]\nhosts = "z"\n')
    seen: list[str] = []

    def run(settings: RelaySettings, _config: Path) -> int:
        seen.append(settings.log.format)
        return 0

    monkeypatch.setattr("relay.app.run", run)
    assert CliRunner().invoke(app, ["relay", "--config", str(file), *options]).exit_code == 0
    assert seen == [form]

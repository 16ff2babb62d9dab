"""`--json` of every command: one object with sentences and fields, without a question."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from relay.cli import app
from relay.cli.confirm import confirm
from relay.cli.json_output import WITHOUT_JSON, add_json, fields

SPARK_JOBS = {"bootstrap", "reconcile", "dedup batch", "dedup stream"}  # have their own options
OTHERS = {"relay", "api", "canal-server", "mapping edit", "audit export", "dead-letter show"}


def commands(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            yield from commands(each, f"{path}{name} ")
        else:
            yield f"{path}{name}", each


def test_every_command_has_it_but_services_an_editor_files_and_jobs() -> None:
    without = {
        name
        for name, each in commands(get_command(app))
        if not any("--json" in option.opts for option in each.params)
    }
    assert without == SPARK_JOBS | OTHERS
    assert len(OTHERS) == len(WITHOUT_JSON)


def test_sentences_and_fields_are_one_object(tmp_path: Path) -> None:
    file = tmp_path / "relay.toml"
    file.write_text('[kafka]\nbootstrap_servers = "k"\n[zookeeper]\nhosts = "z"\n')
    told = CliRunner().invoke(app, ["zookeeper", "identity", "--config", str(file), "--json"])
    assert json.loads(told.stdout) == {"sentences": ["none: zookeeper.auth is not set"]}
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

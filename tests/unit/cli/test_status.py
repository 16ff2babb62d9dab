"""`roma status`: redrawn on a terminal, JSON for machines, and the version of the program."""

import json
import re
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import pytest
from rich.console import RenderableType
from rich.live import Live
from typer.testing import CliRunner

from relay.cli import app, run
from relay.errors import StoreUnreachable
from relay.operations import ListedInstance
from relay.state import InstanceStatus

FOUND = [ListedInstance(InstanceStatus("shop", "RUNNING", relay="r", execute_position=2**62), True)]


def test_the_version_is_the_packages() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.output) == (0, f"roma {version('roma-relay')}\n")


def test_json_is_one_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    run.show_instances(lambda: [*FOUND, *FOUND], watch=False, as_json=True)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(each["name"], each["relay_alive"], each["execute_position"]) for each in lines] == [
        ("shop", True, str(2**62))
    ] * 2


def stopping_after(
    looks: int, first: Exception | None = None
) -> Callable[[], list[ListedInstance]]:
    """What finds the instances so often, and then is interrupted as by Ctrl-C."""
    left = [looks]

    def found() -> list[ListedInstance]:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        if first is not None and left[0] == looks - 1:
            raise first
        return FOUND

    return found


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("threading.Event.wait", lambda *_: True)


@pytest.mark.usefixtures("quick")
def test_a_terminal_is_redrawn_in_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    drawn: list[Any] = []

    class Noted(Live):
        def update(self, renderable: RenderableType, *, refresh: bool = False) -> None:
            drawn.append(renderable)
            super().update(renderable, refresh=refresh)

    monkeypatch.setattr("rich.live.Live", Noted)
    run.show_instances(stopping_after(3), watch=True, as_json=False)
    assert len(drawn) == 3
    out = capsys.readouterr().out
    assert len(re.findall("\x1b\\[1A", out)) >= 2, "the cursor goes back up"


@pytest.mark.usefixtures("quick")
def test_elsewhere_each_second_is_printed_below_the_last_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run.show_instances(stopping_after(2), watch=True, as_json=False)
    assert capsys.readouterr().out.count("RUNNING") == 2


@pytest.mark.usefixtures("quick")
def test_an_outage_of_zookeeper_does_not_end_the_watch(capsys: pytest.CaptureFixture[str]) -> None:
    run.show_instances(stopping_after(2, StoreUnreachable("It is away.")), watch=True, as_json=True)
    told = capsys.readouterr()
    assert "It is away." in told.err
    assert len(told.out.splitlines()) == 1

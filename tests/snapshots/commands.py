"""`roma snapshot` as operators run it."""

import json
from typing import Any

from typer.testing import CliRunner

from relay.cli import app
from tests.support.relays.relay_process import Installation
from tests.support.waiting import wait_until


def roma(installation: Installation, *arguments: str) -> str:
    """Run a command of `roma snapshot`; return what it prints."""
    done = CliRunner().invoke(app, ["snapshot", *arguments, "--config", str(installation.file)])
    assert done.exit_code == 0, done.output or repr(done.exception)
    return done.output


def requests(installation: Installation) -> list[dict[str, Any]]:
    """All requests, as `list --json` prints them."""
    return [json.loads(line) for line in roma(installation, "list", "--json").splitlines()]


def wait_for(
    installation: Installation, number: str, state: str, seconds: float = 60
) -> dict[str, Any]:
    """Wait until a request is in a state, and return it."""
    instances = [each["name"] for each in installation.document["instances"]]

    def found() -> dict[str, Any]:
        return next(each for each in requests(installation) if each["id"] == number)

    def reached() -> bool:
        # from the nodes themselves: the command opens a session of its own each time
        return any(
            (each.id, each.state) == (number, state)
            for instance in instances
            for each in installation.snapshots.all_of(instance)
        )

    try:
        wait_until(reached, f"{number} is {state}", seconds)
    except AssertionError as exc:
        raise AssertionError(found()) from exc
    return found()

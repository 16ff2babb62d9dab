"""Canal's unchanged Java client 1.1.7 as a child process."""

import base64
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from canal_server.wire.schema import MESSAGES
from deploy.embedded import find_java
from deploy.embedded.fetching.jars import jars
from tests.support.clients.canal.real_canal import VerbProcess

_FOLDER: Final = Path(__file__).parent


class Entries(NamedTuple):
    """A batch: its id, -1 for none, and its entries."""

    id: int
    entries: list[Any]


def java_command(program: str, *arguments: object, path: str | None = None) -> list[str]:
    """Return the command that compiles and runs a program, by default with the client's jars."""
    return [
        str(find_java().binary),
        "-Xmx128m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        *("-cp", path or f"{jars('canal-client')}/*"),
        str(_FOLDER / program),
        *map(str, arguments),
    ]


class JavaClient(VerbProcess):
    """Canal's Java client in a child process, which executes verbs."""

    def __init__(
        self,
        address: tuple[str, int],
        folder: Path,
        user: str = "",
        password: str = "",
        destination: str = "example",
    ) -> None:
        # the client 1.1.7 comes first, before the jars of the server that the program also names
        path = f"{jars('canal-client')}/*:{jars('canal')}/*"
        arguments = ("client", *address, destination, user, password)
        command = java_command("CanalVerbs.java", *arguments, path=path)
        with (folder / "java-client.log").open("ab") as log:
            super().__init__(command, log)

    def entries(self, size: int, timeout_ms: int) -> Entries:
        """Carry out `getWithoutAck`."""
        return read_entries(self.say("entries", size, timeout_ms))


def read_entries(said: str) -> Entries:
    """Return the batch that a verb process printed."""
    _, number, *texts = said.split(" ")
    found = [base64.b64decode(each) for each in "".join(texts).split(",") if each]
    return Entries(int(number), [MESSAGES["Entry"].FromString(each) for each in found])


def run(
    command: list[str], seconds: float = 90, environment: Mapping[str, str] | None = None
) -> str:
    """Run a program until it ends; return its output. Raises AssertionError with its errors."""
    told = {**os.environ, **(environment or {})}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=seconds, check=False, env=told
    )
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
    return done.stdout

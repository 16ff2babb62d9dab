"""A real Canal server and its client as a child process that executes verbs."""

import subprocess
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Final, NamedTuple, Self

from deploy.embedded import SqlServer, find_java
from deploy.embedded.fetching.jars import jars
from deploy.embedded.processes.ports import Port

_PROGRAM: Final = Path(__file__).with_name("CanalVerbs.java")


class CanalRefused(Exception):
    """The client raised an exception; its text."""


class Rows(NamedTuple):
    """A batch: its id, -1 for none, and the first columns of its rows, which may be none."""

    id: int
    rows: list[int]


class VerbProcess:
    """A child process that executes verbs; a context manager that ends it."""

    def __init__(self, command: list[str], log: IO[bytes]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
        self._heard()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def kill(self) -> None:
        """Kill the process by SIGKILL."""
        self._process.kill()
        self._process.wait(20)

    def say(self, *verb: object) -> str:
        """Execute a verb; return its result. Raises CanalRefused."""
        assert self._process.stdin is not None
        self._process.stdin.write(" ".join(map(str, verb)) + "\n")
        self._process.stdin.flush()
        return self._heard()

    def batch(self, verb: str, size: int, timeout_ms: int) -> Rows:
        """Carry out `get` or `get_without_ack`."""
        _, number, *rows = self.say(verb, size, timeout_ms).split(" ")
        return Rows(int(number), [int(each) for each in "".join(rows).split(",") if each])

    def drain(self, rows: int, size: int) -> float:
        """Get and acknowledge this number of rows, in batches; return the seconds."""
        return float(self.say("drain", rows, size))

    def _heard(self) -> str:
        """Return the next answer; other lines are the server's log."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("= error "):
                raise CanalRefused(line[8:].strip())
            if line.startswith("= "):
                return line[2:].strip()
        raise AssertionError("The process ended; its log says why")


class RealCanal(VerbProcess):
    """Canal 1.1.7 with one client, on one database; positions are in files of `folder`.

    With `by_memory`, the size of a batch is in KiB, as in Canal's own settings; else in entries.
    """

    def __init__(
        self, server: SqlServer, database: str, folder: Path, *, by_memory: bool = False
    ) -> None:
        self._port = Port()
        arguments = [server.host, server.port, server.admin, server.admin, self._port.number]
        command = [
            find_java().binary,
            "-Xmx2g" if by_memory else "-Xmx256m",
            "-XX:+UseSerialGC",
            "-Djava.net.preferIPv4Stack=true",
            *("-cp", f"{jars('canal')}/*"),
            _PROGRAM,
            *(*arguments, rf"{database}\..*", folder / "canal"),
            "MEMSIZE" if by_memory else "ITEMSIZE",
        ]
        with (folder / "canal.log").open("wb") as log:
            super().__init__([*map(str, command)], log)

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        super().__exit__(exc_type, exc, traceback)
        self._port.release()

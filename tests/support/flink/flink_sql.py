"""Flink SQL in a child process that contains a whole cluster."""

import atexit
import os
import shutil
import subprocess
import tempfile
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from deploy.embedded import find_java
from deploy.embedded.fetching.jars import jars

_PROGRAM: Final = Path(__file__).with_name("FlinkSql.java")
_JVM: Final = (
    "-Xmx768m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Djava.net.preferIPv4Stack=true",
    "-Duser.timezone=UTC",
    "-Dfile.encoding=UTF-8",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
)
Cells: TypeAlias = tuple[bytes | None, ...]


class Change(NamedTuple):
    """A change of the result of a SELECT, which has a number; `kind` is +I, -U, +U or -D."""

    select: int
    kind: str
    cells: Cells

    @classmethod
    def read(cls, line: str) -> "Change":
        """Read a line of the program."""
        number, kind, *cells = line.rstrip("\n").split("\t")
        return cls(int(number), kind, tuple(_cell(each) for each in cells))


def run(statements: Iterable[str], *, avro: bool = False, seconds: float = 300) -> list[Change]:
    """Return all changes of the SELECTs among the statements, whose sources must be bounded."""
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            _command(Path(folder), avro=avro),
            input=_input(statements),
            capture_output=True,
            check=False,
            timeout=seconds,
        )
    assert ran.returncode == 0, ran.stderr.decode(errors="replace")[-4000:]
    return [Change.read(each) for each in ran.stdout.decode("ascii").splitlines()]


@contextmanager
def running(statements: Iterable[str], folder: Path) -> Iterator[Path]:
    """Run statements until the block ends; yield the file to which the changes are written."""
    changes = folder / "changes"
    with changes.open("wb") as out, (folder / "flink.log").open("wb") as log:
        child = subprocess.Popen(_command(folder), stdin=subprocess.PIPE, stdout=out, stderr=log)
        try:
            assert child.stdin is not None
            child.stdin.write(_input(statements))
            child.stdin.close()
            yield changes
        finally:
            child.kill()
            child.wait(20)


def folded(changes: Iterable[Change], select: int = 0) -> Counter[Cells]:
    """Return the rows of a SELECT after all its changes. A row that is removed must have been added
    before.
    """
    rows: Counter[Cells] = Counter()
    for each in changes:
        if each.select == select:
            rows[each.cells] += 1 if each.kind in ("+I", "+U") else -1
            assert rows[each.cells] >= 0, f"no row {each.cells} to take away"
    return +rows


def _input(statements: Iterable[str]) -> bytes:
    return b"".join(b64encode(each.encode()) + b"\n" for each in statements)


def _command(folder: Path, *, avro: bool = False) -> list[str | Path]:
    sets = ("flink", "flink-avro") if avro else ("flink",)
    classpath = os.pathsep.join([str(_compiled()), *(f"{jars(each)}/*" for each in sets)])
    temporary = f"-Djava.io.tmpdir={folder}"
    return [find_java().binary, *_JVM, temporary, "-cp", classpath, "FlinkSql"]


@cache
def _compiled() -> Path:
    """Compile the program once in a process; return its folder."""
    folder = Path(tempfile.mkdtemp(prefix="flink-sql-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    compiler = find_java().home / "bin" / "javac"
    command: list[str | Path] = [compiler, "-cp", f"{jars('flink')}/*", "-d", folder, _PROGRAM]
    ran = subprocess.run(command, capture_output=True, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr.decode()
    return folder


def _cell(text: str) -> bytes | None:
    return None if text == "-" else b64decode(text[1:])

"""The JDK that Kafka, ZooKeeper and Spark run on."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from deploy.embedded.errors import JavaMissing

SUPPORTED_VERSIONS: Final = (17, 21)  # Spark 4.0 does not run on 24 and later
JVM_FOLDER: Final = Path("/usr/lib/jvm")  # where Debian keeps them
_ANSWER_S: Final = 30
_PROPERTY: Final = re.compile(
    r"^\s*(java\.home|java\.specification\.version) = (.+?)\s*$", re.MULTILINE
)
_REMEDY: Final = (
    "Install JDK 17 or 21 (Debian: openjdk-17-jre-headless) or name one by ROMA_JAVA_HOME."
)


@dataclass(frozen=True, slots=True)
class Java:
    """An installed JDK or JRE."""

    home: Path
    version: int

    @property
    def binary(self) -> Path:
        """Return the path of the `java` program."""
        return self.home / "bin" / "java"


def find_java() -> Java:
    """Return the first JDK 17 or 21 of ROMA_JAVA_HOME, JAVA_HOME, PATH and /usr/lib/jvm.

    Each program is run to read its version. If ROMA_JAVA_HOME is set, only that JDK is tried.
    Raises JavaMissing if no JDK fits.
    """
    named = os.environ.get("ROMA_JAVA_HOME")
    candidates = [Path(named) / "bin" / "java"] if named else list(java_candidates())
    seen: list[str] = []
    for binary in candidates:
        java = ask_java(binary)
        if java is not None and java.version in SUPPORTED_VERSIONS:
            return java
        seen.append(
            f"{binary} is {'no working Java' if java is None else f'version {java.version}'}"
        )
    raise JavaMissing(
        f"No JDK 17 or 21 was found ({'; '.join(seen) or 'there is no java at all'}).", _REMEDY
    )


@cache
def ask_java(binary: Path) -> Java | None:
    """Return the JDK of the program `binary`, as the program describes it; None if the program
    does not run, or prints no version.
    """
    try:
        answer = subprocess.run(
            [binary, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ANSWER_S,
            check=True,
            env={"LANG": "C", "PATH": os.defpath},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = dict(_PROPERTY.findall(answer.stderr))
    version = found.get("java.specification.version", "").removeprefix("1.")
    if "java.home" not in found or not version.isdecimal():
        return None
    return Java(Path(found["java.home"]), int(version))


def java_candidates() -> Iterator[Path]:
    """Yield the java programs of JAVA_HOME, PATH and /usr/lib/jvm, whatever their version."""
    home = os.environ.get("JAVA_HOME")
    if home:
        yield Path(home) / "bin" / "java"
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path)
    yield from sorted(JVM_FOLDER.glob("*/bin/java"))

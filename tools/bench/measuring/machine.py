"""The machine, software and commit of a measurement, which every report names."""

import os
import platform
import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil

from deploy.embedded import Kafka, MariaDB

_GIBIBYTE = 1024**3


@dataclass(frozen=True, slots=True)
class Setting:
    """Machine, software, command and commit of a measurement.

    `versions` maps programs to versions; `load_before` is the load average over one minute.
    """

    cpu: str
    cores: int
    memory_gib: float
    kernel: str
    python: str
    versions: dict[str, str]
    command: str
    commit: str
    when: str
    load_before: float


def setting(arguments: Sequence[str], program: str = "tools.bench") -> Setting:
    """Return the setting of this machine now, without versions.

    `arguments` are those of `python -m <program>`.
    """
    return Setting(
        cpu=_cpu_model(),
        cores=os.cpu_count() or 1,
        memory_gib=round(psutil.virtual_memory().total / _GIBIBYTE, 1),
        kernel=f"{platform.system()} {platform.release().partition('-')[0]}",
        python=platform.python_version(),
        versions={},
        command=shlex.join(["python", "-m", program, *arguments]),
        commit=commit(),
        when=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        load_before=round(os.getloadavg()[0], 2),
    )


def server_versions() -> dict[str, str]:
    """Return the versions of MariaDB and Kafka; download them if they are missing."""
    return {
        "MariaDB": MariaDB.fetch().removeprefix("mariadb-"),
        "Kafka": Kafka.fetch().removeprefix("kafka-"),
    }


def commit() -> str:
    """Return the commit of the work tree, with a note if files of the relay differ from it.

    `unknown` outside of a repository.
    """
    head = _git("rev-parse", "--short=12", "HEAD")
    if not head:
        return "unknown"
    return (
        f"{head} and changes since"
        if _git("status", "--porcelain", "--untracked-files=no", "--", "relay")
        else head
    )


def _git(*arguments: str) -> str:
    ran = subprocess.run(
        ["git", *arguments], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )
    return ran.stdout.strip() if ran.returncode == 0 else ""


def _cpu_model() -> str:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.machine()

"""The demo as strangers run it: on their machine, with their habits, their Ctrl-C and their
crashes.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from deploy.embedded import find_java
from tests.support.page_clients import signed_in
from tests.support.waiting import wait_until

ROOT = Path(__file__).resolve().parents[3]
PARTS = (
    "Makefile",
    "pyproject.toml",
    "constraints.txt",
    "README.md",
    "LICENSE",
    "hatch_build.py",
    "relay",
    "api",
    "spark_jobs",
    "deploy",
    "typings",
)
STOPPING_ORDER = ["spark", "admin", "relay", "kafka", "zookeeper", "mariadb-11.4"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project in a folder with spaces, set up with the packages that run this test."""
    folder = tmp_path_factory.mktemp("a stranger's folder") / "the relay"
    folder.mkdir()
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy2(source, folder / part)
    set_up(folder)
    return folder


def set_up(folder: Path) -> None:
    """What `make setup` would make, without fetching every package again: nothing of it may change
    the environment of this test.
    """
    venv.create(folder / ".venv", symlinks=True)
    own = (
        folder
        / ".venv"
        / "lib"
        / f"python{sys.version_info.major}.{sys.version_info.minor}"
        / "site-packages"
    )
    (own / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    stamp = subprocess.run(
        ["bash", "deploy/setup.sh", "--fingerprint"], cwd=folder, capture_output=True, check=True
    ).stdout
    (folder / ".venv" / ".complete").write_bytes(stamp)


def environment(folder: Path) -> Mapping[str, str]:
    """Nearly nothing, and a `java` that is none of ours first on the PATH."""
    wrong = folder / "wrong java"
    wrong.mkdir(exist_ok=True)
    program = wrong / "java"
    program.write_text("#!/bin/sh\necho 'openjdk version \"25.0.1\"' >&2\nexit 1\n")
    program.chmod(0o755)
    own = {"ROMA_JAVA_HOME": str(find_java().home)} if "ROMA_JAVA_HOME" in os.environ else {}
    kept = {
        name: os.environ[name] for name in ("ROMA_CACHE", "XDG_CACHE_HOME") if name in os.environ
    }
    return {
        "PATH": f"{wrong}:/usr/local/bin:/usr/bin:/bin",
        "TZ": "Asia/Kathmandu",
        "LANG": "C",
        **own,
        **kept,
    }


def without_a_name(command: list[str]) -> list[str]:
    """Run it where the machine's own name does not resolve.

    A machine that forbids namespaces shows the rest.
    """
    as_root = ["--map-root-user"] if os.geteuid() else []
    prefix = [
        "unshare",
        *as_root,
        "--uts",
        "sh",
        "-c",
        'hostname nowhere.invalid && exec "$@"',
        "sh",
    ]
    allowed = subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
    return [*prefix, *command] if allowed else command


@contextmanager
def demo(project: Path, *arguments: str) -> Iterator[tuple["subprocess.Popen[bytes]", Path]]:
    """The demo without a terminal, its output in a file; whatever it started ends with the
    block.
    """
    log = project / "demo.log"
    with log.open("wb") as output:
        child = subprocess.Popen(
            [project / ".venv/bin/python", "-m", "deploy.demo", *arguments],
            cwd=project,
            env=dict(environment(project)),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield child, log
    finally:
        if child.poll() is None:
            child.kill()
        child.wait(30)


def said(log: Path, text: str) -> bool:
    return text in log.read_text(errors="replace")


def children(child: "subprocess.Popen[bytes]") -> list[psutil.Process]:
    return psutil.Process(child.pid).children(recursive=True)


def gone(processes: list[psutil.Process]) -> bool:
    return not any(
        each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in processes
    )


def test_a_stranger_sees_an_equal_copy(project: Path) -> None:
    command = without_a_name(["make", "demo", "ONCE=1"])
    ran = subprocess.run(
        command,
        cwd=project,
        env=dict(environment(project)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        check=False,
    )
    output = ran.stdout.decode()
    assert ran.returncode == 0, output
    shown = dict(re.findall(r"^\| (.+?) +\| +(.+?) \|$", output, re.MULTILINE))
    for table, rows in (("shop.customer", "2000"), ("shop.orders", "9300")):
        assert shown[f"{table}: rows in source"] == shown[f"{table}: rows in copy"] == rows
        assert shown[f"{table}: equal, row for row"] == "yes"
    made, _, seen = shown["row changes made / messages seen"].partition(" / ")
    assert made == seen
    assert shown["admin"].startswith("http://127.0.0.1:")
    assert re.findall(r"^stopping (\S+)$", output, re.MULTILINE) == STOPPING_ORDER


@pytest.mark.long
def test_the_user_that_is_printed_signs_in(project: Path) -> None:
    with demo(project) as (child, log):
        wait_until(lambda: said(log, "with the password"), "the user", 180)
        output = log.read_text(errors="replace")
        (url,) = re.findall(r"the admin answers at (\S+)$", output, re.MULTILINE)
        ((name, password),) = re.findall(
            r"^sign in there as (\S+) with the password (\S+)$", output, re.MULTILINE
        )
        with signed_in(url, name, password) as browser:
            assert "Roma relay" in browser.get("/mappings").text
        child.send_signal(signal.SIGINT)
        child.wait(60)


@pytest.mark.long
def test_a_second_ctrl_c_ends_everything_at_once(project: Path) -> None:
    with demo(project) as (child, log):
        wait_until(lambda: said(log, "the admin answers"), "the servers", 180)
        started = children(child)
        assert len(started) >= 4
        child.send_signal(signal.SIGINT)
        wait_until(lambda: said(log, "stopping"), "the first signal's effect")
        child.send_signal(signal.SIGINT)
        child.wait(30)
        wait_until(lambda: gone(started), "the end of all children")


def test_a_crash_leaves_nothing_behind(project: Path) -> None:
    with demo(project) as (child, log):
        wait_until(lambda: said(log, "the admin answers"), "the servers", 180)
        started = children(child)
        child.kill()
        wait_until(lambda: gone(started), "the end of all children")

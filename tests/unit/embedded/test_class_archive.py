"""Archives of Java classes: found in the cache when complete, ignored when damaged, never waited
for.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from deploy.embedded import find_java
from deploy.embedded.errors import Unavailable
from deploy.embedded.fetching.ivy import pyspark_jars
from deploy.embedded.processes.class_archive import archive_options, make_archive

_MAIN: Final = "org.apache.zookeeper.Version"
_VERSION: Final = "3.9.3-"
_OF_ARCHIVE: Final = "source: shared objects file (top)"
"""The JVM's log says this of a class that it took from an archive over its own."""


@pytest.fixture
def classpath(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A small Java program, and an empty cache in a folder with a space in its name."""
    monkeypatch.setenv("ROMA_CACHE", str(tmp_path / "with a space" / "cache"))
    return copied_program(tmp_path / "jars")


def copied_program(folder: Path) -> str:
    """Copy the jars of the program; return the class path."""
    folder.mkdir()
    for pattern in ("zookeeper-*.jar", "slf4j-api-*.jar"):
        for jar in pyspark_jars().glob(pattern):
            shutil.copy(jar, folder)
    return os.pathsep.join(map(str, sorted(folder.glob("*.jar"))))


def run(classpath: str, options: Sequence[str]) -> subprocess.CompletedProcess[str]:
    program = ("-Xlog:class+load:stderr", "-cp", classpath, _MAIN)
    command = [str(find_java().binary), *options, *program]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)


def touch(options: Sequence[str]) -> None:
    """Make the file that the JVM would write."""
    Path(options[-1].split("=", 1)[1]).touch()


def make(classpath: str) -> Path:
    def write(options: Sequence[str]) -> None:
        run(classpath, options)

    return make_archive(classpath, write)


@pytest.mark.slow
def test_a_program_takes_its_classes_from_the_archive(classpath: str) -> None:
    assert archive_options(classpath) == ()
    assert make(classpath) == make(classpath)
    loaded = run(classpath, archive_options(classpath)).stderr.splitlines()
    assert [line for line in loaded if _MAIN in line and _OF_ARCHIVE in line]


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut", "changed", "empty"])
def test_a_program_runs_without_an_archive_that_is_damaged(classpath: str, damage: str) -> None:
    file = make(classpath)
    file.chmod(0o644)
    content = bytearray(file.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 4096] = os.urandom(4096)
    changed = {"cut": bytes(content[:middle]), "changed": bytes(content), "empty": b""}
    file.write_bytes(changed[damage])
    ran = run(classpath, archive_options(classpath))
    assert _VERSION in ran.stdout
    assert _OF_ARCHIVE not in ran.stderr


@pytest.mark.slow
def test_a_program_in_a_folder_with_a_space_runs_with_its_archive(
    classpath: str, tmp_path: Path
) -> None:
    """JDK 17 archives no class of such jars."""
    spaced = copied_program(tmp_path / "some jars")
    make(spaced)
    assert _VERSION in run(spaced, archive_options(spaced)).stdout


def test_an_archive_without_its_size_is_not_used(classpath: str) -> None:
    file = make_archive(classpath, touch)
    assert archive_options(classpath)
    (file.parent / "size").unlink()
    assert archive_options(classpath) == ()


def test_other_jars_have_another_archive(classpath: str) -> None:
    assert make_archive(classpath, touch) != make_archive(f"{classpath}:other.jar", touch)
    assert archive_options(f"{classpath}:third.jar") == ()


def test_a_run_that_writes_no_archive_leaves_none(classpath: str) -> None:
    with pytest.raises(Unavailable, match="wrote no archive"):
        make_archive(classpath, lambda _: None)
    assert archive_options(classpath) == ()

"""The Java classes of the project have no warnings of javac.

Janino, which compiles them for Spark, gives none itself.
"""

import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from deploy.embedded import spark_jars
from deploy.embedded.fetching.jars import jars
from deploy.embedded.processes.java import find_java
from deploy.embedded.servers.hbase import hbase_client_jars

_ROOT = Path(__file__).parents[4]
_OF_CANAL = _ROOT / "tools" / "bench" / "peers" / "CanalToKafka.java"
_LEFT_OUT = ("rawtypes", "unchecked", "cast", "path", "classfile")
"""Janino knows no type arguments, so casts that javac calls redundant are needed.

The last two are warnings about the jars.
"""


def _libraries() -> list[Path]:
    of_spark = Path(str(files("pyspark"))).joinpath("jars").glob("*.jar")
    return [*hbase_client_jars(), *spark_jars(), *of_spark]


def _warnings(sources: list[Path], target: Path, libraries: list[Path]) -> str:
    """Return what javac says about the sources, empty if it takes them.

    Skips the test without a JDK.
    """
    javac = find_java().home / "bin" / "javac"
    if not javac.exists():
        pytest.skip(f"no javac in {javac.parent}: this is a JRE")
    lint = ",".join(["all", *(f"-{each}" for each in _LEFT_OUT)])
    command = [
        str(javac),
        f"-Xlint:{lint}",
        "-Werror",
        "-proc:none",
        "-cp",
        ":".join(map(str, libraries)),
        "-d",
        str(target),
    ]
    done = subprocess.run(
        [*command, *map(str, sources)], check=False, capture_output=True, text=True, timeout=120
    )
    return done.stderr if done.returncode else ""


def test_the_java_classes_have_no_warnings(tmp_path: Path) -> None:
    sources = [
        *(_ROOT / "spark_jobs").rglob("*.java"),
        *(file for file in (_ROOT / "tools").rglob("*.java") if file.name != _OF_CANAL.name),
    ]
    known = {"Writer", "FileWriter", "Rewriter", "ClassicLoop"}
    assert {source.stem for source in sources} >= known
    assert _warnings(sources, tmp_path, _libraries()) == ""


@pytest.mark.long
def test_the_class_that_starts_canal_has_no_warnings(tmp_path: Path) -> None:
    libraries = [
        file
        for of_set in ("canal", "canal-kafka", "kafka")
        for file in sorted(jars(of_set).glob("*.jar"))
    ]
    assert _warnings([_OF_CANAL], tmp_path, libraries) == ""


def test_a_class_with_a_warning_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "Careless.java"
    source.write_text(
        "final class Careless implements java.io.Serializable { }\n", encoding="utf-8"
    )
    assert "[serial]" in _warnings([source], tmp_path, _libraries())

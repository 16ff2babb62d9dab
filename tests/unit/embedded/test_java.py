"""The right JDK is found by asking, whatever lies first on PATH."""

from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.embedded.errors import JavaMissing
from deploy.embedded.processes import java
from deploy.embedded.processes.java import ask_java, find_java

MakeJava = Callable[[str, str], Path]


@pytest.fixture(autouse=True)
def _no_java_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ask_java.cache_clear()
    for name in ("ROMA_JAVA_HOME", "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setattr(java, "JVM_FOLDER", tmp_path / "jvm")


@pytest.fixture
def make_java(tmp_path: Path) -> MakeJava:
    """Make a program that answers as `java -XshowSettings:properties -version` does.

    Returns its home.
    """

    def make(home: str, version: str) -> Path:
        binary = tmp_path / home / "bin" / "java"
        binary.parent.mkdir(parents=True)
        answer = (
            f"Property settings:\n    java.home = {tmp_path / home}\n    "
            f"java.specification.version = {version}\n"
        )
        binary.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{answer}END\n")
        binary.chmod(0o755)
        return tmp_path / home

    return make


def test_a_wrong_java_first_on_path_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, make_java: MakeJava
) -> None:
    wrong = make_java("a newer one", "25")
    right = make_java("jvm/java-17", "17")
    monkeypatch.setenv("PATH", f"{wrong}/bin")
    assert find_java() == java.Java(right, 17)


def test_java_8_is_told_by_its_old_version_style(make_java: MakeJava) -> None:
    found = ask_java(make_java("old", "1.8") / "bin/java")
    assert found is not None
    assert found.version == 8


def test_a_program_that_is_no_java_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, make_java: MakeJava, tmp_path: Path
) -> None:
    fake = tmp_path / "fake/java"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nexit 3\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    right = make_java("jvm/java-21", "21")
    assert find_java().home == right


def test_the_named_one_is_used_or_refused_but_never_passed_over(
    monkeypatch: pytest.MonkeyPatch, make_java: MakeJava
) -> None:
    make_java("jvm/java-17", "17")
    monkeypatch.setenv("ROMA_JAVA_HOME", str(make_java("named", "25")))
    with pytest.raises(JavaMissing, match="version 25"):
        find_java()
    monkeypatch.setenv("ROMA_JAVA_HOME", str(make_java("other", "21")))
    assert find_java().version == 21


def test_without_any_the_error_says_what_to_install(make_java: MakeJava) -> None:
    make_java("jvm/java-11", "11")
    with pytest.raises(JavaMissing, match=r"version 11.*openjdk-17-jre-headless"):
        find_java()

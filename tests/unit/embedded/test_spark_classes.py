"""The archive of Spark's classes: used when it is there, and not made where it would be useless."""

from pathlib import Path

import pytest

from deploy.embedded import spark_classes, spark_environment
from deploy.embedded.errors import Unavailable
from deploy.embedded.processes.class_archive import make_archive
from deploy.embedded.servers import spark


@pytest.fixture(name="folder")
def folder_of_archives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in ("SPARK_SUBMIT_OPTS", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)
    for module in (spark, spark_classes):
        monkeypatch.setattr(module, "SPARK_CLASSES", tmp_path)
    return tmp_path


def touch(options: tuple[str, ...]) -> None:
    """Make the file that the JVM would write."""
    Path(options[-1].split("=", 1)[1]).touch()


def test_spark_starts_without_an_archive_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    assert list(folder.iterdir()) == []
    assert spark_environment()["SPARK_SUBMIT_OPTS"] == ""
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-Dmine=1")
    assert spark_environment()["SPARK_SUBMIT_OPTS"] == "-Dmine=1"


def test_spark_starts_with_the_archive_of_its_environment(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    file = make_archive(spark.spark_classpath(), touch, folder)
    assert file.is_relative_to(folder)
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-Dmine=1")
    for _ in range(2):
        options = spark_environment()["SPARK_SUBMIT_OPTS"]
        monkeypatch.setenv("SPARK_SUBMIT_OPTS", options)
        assert options.split().count(f"-XX:SharedArchiveFile={file}") == 1
        assert options.startswith("-Dmine=1 ")


@pytest.mark.usefixtures("folder")
def test_a_folder_that_cannot_be_written_only_costs_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(spark_classes, "SPARK_CLASSES", tmp_path / "file" / "classes")
    with pytest.raises(Unavailable, match="cannot be written"):
        spark_classes.archive_spark()


@pytest.mark.usefixtures("folder")
def test_a_job_that_failed_leaves_no_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_classes, "_PROGRAM", "deploy.embedded.no_such_job")
    with pytest.raises(Unavailable, match="No module named"):
        spark_classes.archive_spark()
    assert spark_environment()["SPARK_SUBMIT_OPTS"] == ""


def test_no_archive_is_made_of_another_spark(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    assert "SPARK_HOME" in spark_classes.archive_spark()
    assert list(folder.iterdir()) == []


def test_no_archive_is_made_in_a_folder_with_a_space(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(spark_classes, "SPARK_CLASSES", tmp_path / "with a space")
    monkeypatch.setattr(spark_classes, "_run", touch)
    assert "space" in spark_classes.archive_spark()
    assert list(tmp_path.iterdir()) == []

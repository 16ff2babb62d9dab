"""The archive of Spark's classes: used when it is there, and not made where it would be useless."""

from pathlib import Path

import pytest

from deploy.embedded import spark_classes, spark_environment
from deploy.embedded.processes.class_archive import make_archive
from deploy.embedded.servers import spark


@pytest.fixture(name="folder")
def folder_of_archives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for module in (spark, spark_classes):
        monkeypatch.setattr(module, "SPARK_CLASSES", tmp_path)
    return tmp_path


def touch(options: tuple[str, ...]) -> None:
    """Make the file that the JVM would write."""
    Path(options[-1].split("=", 1)[1]).touch()


def test_spark_starts_without_an_archive_that_is_not_there(folder: Path) -> None:
    assert list(folder.iterdir()) == []
    assert spark_environment()["SPARK_SUBMIT_OPTS"] == ""


def test_spark_starts_with_the_archive_of_its_environment(folder: Path) -> None:
    file = make_archive(spark.spark_classpath(), touch, folder)
    assert file.is_relative_to(folder)
    assert f"-XX:SharedArchiveFile={file}" in spark_environment()["SPARK_SUBMIT_OPTS"].split()


def test_no_archive_is_made_in_a_folder_with_a_space(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(spark_classes, "SPARK_CLASSES", tmp_path / "with a space")
    monkeypatch.setattr(spark_classes, "_run", touch)
    assert "space" in spark_classes.archive_spark()
    assert list(tmp_path.iterdir()) == []

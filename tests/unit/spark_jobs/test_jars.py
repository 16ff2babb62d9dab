"""Jars that are not there, are no jars, are for another Spark, or lack a part."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from spark_jobs import dedup_stream
from spark_jobs.errors import JarsRefused
from spark_jobs.runtime import spark_session
from spark_jobs.runtime.jars import _PARTS, check_jars


def jar(folder: Path, name: str, member: str, title: str, version: str) -> Path:
    with ZipFile(folder / name, "w") as archive:
        archive.writestr(
            "META-INF/MANIFEST.MF",
            f"Implementation-Title: {title}\r\nImplementation-Version: {version}\r\n",
        )
        archive.writestr(f"{member.replace('.', '/')}.class", b"")
    return folder / name


def whole(folder: Path, delta: str = "4.0.0") -> list[Path]:
    versions = {"delta-spark": delta}
    return [
        jar(folder, f"{part.name}.jar", part.member, part.title, versions.get(part.title, "4.0.1"))
        for part in _PARTS
    ]


def test_jars_that_fit_are_taken(tmp_path: Path) -> None:
    check_jars(whole(tmp_path))


def test_each_cause_is_one_sentence(tmp_path: Path) -> None:
    jars, gone, text = whole(tmp_path), tmp_path / "gone.jar", tmp_path / "text.jar"
    text.write_text("no jar", encoding="utf-8")
    for given, sentence in (
        ([*jars, gone], f"`jars` names {gone}, which does not exist."),
        (
            [*jars, text],
            f"`jars` names {text}, which cannot be read as a jar (File is not a zip file).",
        ),
        (jars[1:], "None of `jars` contains delta-spark_2.13."),
    ):
        with pytest.raises(JarsRefused) as caught:
            check_jars(given)
        assert str(caught.value) == f"{sentence} {JarsRefused.remedy}"


def test_another_version_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        JarsRefused,
        match=r"delta-spark_2\.13\.jar, which is delta-spark 3\.2\.0\. Spark 4\.0 needs",
    ):
        check_jars(whole(tmp_path, "3.2.0"))


def test_the_job_says_it_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setattr(spark_session, "check_java", lambda: None)
    config = tmp_path / "job.toml"
    tables = '[kafka]\nbootstrap_servers = "k:9092"\ntopics = ["shop"]\n'
    config.write_text(
        f'copy_root = "{tmp_path}"\ncheckpoint = "{tmp_path}"\njars = '
        f'["{tmp_path}/gone.jar"]\n{tables}',
        encoding="utf-8",
    )
    assert dedup_stream.main(["--config", str(config)]) == 1
    assert (
        capsys.readouterr().err
        == f"`jars` names {tmp_path}/gone.jar, which does not exist. {JarsRefused.remedy}\n"
    )

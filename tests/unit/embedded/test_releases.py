"""Servers of further releases: each is pinned, unpacked without the rest of its archive, and refused where it cannot run."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from deploy.embedded.cache import cache_folder
from deploy.embedded.catalogue import RELEASES, SERVERS, fetchers
from deploy.embedded.errors import Unavailable
from deploy.embedded.fetching.artifacts import Artifact, fingerprint, pinned
from deploy.embedded.fetching.npm import LOCK as NPM_LOCK
from deploy.embedded.releases import archives, debian_packages
from deploy.embedded.releases.debian_mariadb import LOCK as DEBIAN_LOCK

_ARTIFACT = Artifact("org.example", "thing", "1.0", "0" * 64)


@pytest.fixture
def archive(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An archive of its own in a cache of its own, where the set "thing" lies."""
    monkeypatch.setenv("ROMA_CACHE", str(tmp_path))
    monkeypatch.setattr(archives, "pinned", lambda _wanted: (_ARTIFACT,))
    folder = cache_folder() / "jars" / f"thing-{fingerprint((_ARTIFACT,))}"
    folder.mkdir(parents=True)
    monkeypatch.setattr(archives, "jars", lambda _wanted: folder)
    return folder / _ARTIFACT.file


def test_every_release_is_pinned_once_and_fetched_on_demand_alone() -> None:
    for name in RELEASES:
        assert sum(len(pinned(name, *lock)) for lock in ((), (NPM_LOCK,), (DEBIAN_LOCK,))) == 1, name
    assert not RELEASES.keys() & (SERVERS.keys() | fetchers().keys())
    assert len({kind.version for kind in RELEASES.values()}) == len(RELEASES)


def test_only_what_is_needed_is_unpacked_and_the_archive_dropped(archive: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive, "w") as made:
        for name in ("linux/bin/mysqld", "linux/bin/mysqldump", "linux/share/a/b.sql", "mac/bin/mysqld"):
            made.writestr(name, name)
    (target := tmp_path / "target").mkdir()
    archives.unpack_members("thing", target, "linux/", r"(bin/mysqld|share/.+)")
    assert sorted(str(file.relative_to(target)) for file in target.rglob("*") if file.is_file()) == ["bin/mysqld", "share/a/b.sql"]
    assert not archive.parent.exists()


def test_an_archive_inside_the_archive_is_unpacked_too(archive: Path, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as inner:
        for name in ("bin/mysqld", "docs/README"):
            inner.addfile(tarfile.TarInfo(name))
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("linux.tar.gz", packed.getvalue())
        made.writestr("other.tar.gz", b"")
    (target := tmp_path / "target").mkdir()
    archives.unpack_inner("thing", target, "linux.tar.gz", ["bin"])
    assert [file.name for file in target.rglob("*") if file.is_file()] == ["mysqld"]
    assert not archive.parent.exists()


def test_a_program_that_finds_no_library_names_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "mysqld"
    program.write_text("#!/bin/sh\necho 'error while loading shared libraries: libaio.so.1' >&2\nexit 127\n")
    program.chmod(0o755)
    asked: list[str] = []
    monkeypatch.setattr(archives, "install_package", asked.append)
    with pytest.raises(Unavailable, match=r"libaio\.so\.1.*Debian: libaio1"):
        archives.check_runs([program], "mysql-5.7", ["libaio1"])
    assert asked == ["libaio1"]
    with pytest.raises(Unavailable, match="missing does not run on this machine"):
        archives.check_runs([tmp_path / "missing"], "missing")


def test_elsewhere_than_on_debian_its_packages_are_unavailable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(debian_packages, "debian_mirror", lambda: None)
    with pytest.raises(Unavailable, match="Run it on Debian"):
        debian_packages.unpack_with_needs(_ARTIFACT, ["debian trixie main"], tmp_path)

"""Servers of further releases: each is pinned, unpacked without the rest of its archive, and
refused where it cannot run.
"""

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.embedded.cache import cache_folder
from deploy.embedded.catalogue import RELEASES, SERVERS, fetchers
from deploy.embedded.errors import ChecksumMismatch, FetchFailed, Unavailable
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
        assert sum(len(pinned(name, *lock)) for lock in ((), (NPM_LOCK,), (DEBIAN_LOCK,))) == 1, (
            name
        )
    assert not RELEASES.keys() & (SERVERS.keys() | fetchers().keys())
    assert len({kind.version for kind in RELEASES.values()}) == len(RELEASES)


def test_only_what_is_needed_is_unpacked_and_the_archive_dropped(
    archive: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(archive, "w") as made:
        for name in (
            "linux/bin/mysqld",
            "linux/bin/mysqldump",
            "linux/share/a/b.sql",
            "mac/bin/mysqld",
        ):
            made.writestr(name, name)
    (target := tmp_path / "target").mkdir()
    archives.unpack_members("thing", target, "linux/", r"(bin/mysqld|share/.+)")
    assert sorted(
        str(file.relative_to(target)) for file in target.rglob("*") if file.is_file()
    ) == ["bin/mysqld", "share/a/b.sql"]
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


def test_a_program_that_finds_no_library_names_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "mysqld"
    program.write_text(
        "#!/bin/sh\necho 'error while loading shared libraries: libaio.so.1' >&2\nexit 127\n"
    )
    program.chmod(0o755)
    asked: list[str] = []
    monkeypatch.setattr(archives, "install_package", asked.append)
    with pytest.raises(Unavailable, match=r"libaio\.so\.1.*Debian: libaio1"):
        archives.check_runs([program], "mysql-5.7", ["libaio1"])
    assert asked == ["libaio1"]
    with pytest.raises(Unavailable, match="missing does not run on this machine"):
        archives.check_runs([tmp_path / "missing"], "missing")


@pytest.mark.parametrize(
    ("listed", "newest"),
    [
        (["1:11.8.9+ds-0+deb13u1", "1:11.8.6-0+deb13u1"], "1:11.8.9+ds-0+deb13u1"),
        (
            ["1:11.8.6-0+deb13u1", "1:11.8.10-0+deb13u1"],
            "1:11.8.10-0+deb13u1",
        ),  # by number, not by text
        (
            ["1:11.8.9-0+deb13u2", "1:11.8.9-0+deb13u1"],
            "1:11.8.9-0+deb13u2",
        ),  # apt lists the newer package first
        (["1:12.3.2-1", "1:11.8.3-1", "1:11.4.11-1", "11.80.1-1"], "1:11.8.3-1"),
        (["11.8.7-1"], "11.8.7-1"),
        (["1:12.3.2-1", "1:111.8.1-1"], None),
        ([], None),
    ],
)
def test_the_newest_version_of_a_series_is_chosen(listed: list[str], newest: str | None) -> None:
    assert debian_packages.newest_of("11.8.*", listed) == newest


@pytest.mark.parametrize(
    ("version", "number"),
    [
        ("1:11.8.9+ds-0+deb13u1", "11.8.9"),
        ("1:10.5.29-0+deb11u1", "10.5.29"),
        ("11.8.10~rc1-1", "11.8.10"),
    ],
)
def test_the_release_is_read_from_the_version_of_its_package(version: str, number: str) -> None:
    assert debian_packages.release_number(version) == number


class _Archive:
    """Answers in apt's place: lists these versions, and downloads a package as whatever `content`
    is.
    """

    def __init__(self, *listed: str, content: bytes = b"none") -> None:
        self._listed = listed
        self._content = content
        self.asked: list[str] = []

    def __call__(self, work: Path, program: str, *arguments: str) -> str:
        self.asked.append(" ".join((program, *arguments)))
        if arguments[0] == "install":
            (work / "cache" / "archives" / "thing_any.deb").write_bytes(self._content)
        return "".join(
            f" thing | {version} | mirror trixie/main amd64 Packages\n" for version in self._listed
        )


@pytest.fixture
def debian(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[_Archive], None]:
    """A machine that is a Debian, with another archive in the place of its own."""
    monkeypatch.setenv("ROMA_CACHE", str(tmp_path))
    monkeypatch.setattr(debian_packages, "debian_mirror", lambda: "mirror")
    monkeypatch.setattr(debian_packages, "_KEYRING", tmp_path)
    return lambda archive: monkeypatch.setattr(debian_packages, "_apt", archive)


_SERIES = Artifact("trixie", "thing", "11.8.*", "newest", "deb")


def test_the_newest_version_is_asked_for_after_the_lists_are_fetched(
    debian: Callable[[_Archive], None], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    debian(archive := _Archive("1:11.8.9-1", "1:11.8.6-1"))
    with pytest.raises(FetchFailed, match="could not be unpacked"):  # it is no package
        debian_packages.unpack_with_needs(_SERIES, ["debian trixie main"], tmp_path)
    assert archive.asked == [
        "apt-get update",
        "apt-cache madison thing",
        "apt-get install --yes --download-only thing=1:11.8.9-1",
    ]
    assert "thing 1:11.8.9-1" in capfd.readouterr().err


def test_a_suite_without_the_series_is_named_with_what_it_has(
    debian: Callable[[_Archive], None], tmp_path: Path
) -> None:
    debian(_Archive("1:12.3.2-1"))
    with pytest.raises(
        Unavailable, match=r"trixie lists thing 1:12\.3\.2-1, not 11\.8\.\*.*debian\.lock"
    ):
        debian_packages.unpack_with_needs(_SERIES, ["debian trixie main"], tmp_path)


def test_a_pinned_package_is_asked_for_by_its_version_and_compared_with_its_sum(
    debian: Callable[[_Archive], None], tmp_path: Path
) -> None:
    debian(archive := _Archive("1:11.8.9-1"))
    with pytest.raises(ChecksumMismatch, match="pinned is 000"):
        debian_packages.unpack_with_needs(
            Artifact("trixie", "thing", "1%3a11.8.6-1", "0" * 64, "deb"),
            ["debian trixie main"],
            tmp_path,
        )
    assert archive.asked == [
        "apt-get update",
        "apt-get install --yes --download-only thing=1:11.8.6-1",
    ]


def test_elsewhere_than_on_debian_its_packages_are_unavailable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(debian_packages, "debian_mirror", lambda: None)
    with pytest.raises(Unavailable, match="Run it on Debian"):
        debian_packages.unpack_with_needs(_ARTIFACT, ["debian trixie main"], tmp_path)

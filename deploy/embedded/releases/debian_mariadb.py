"""MariaDB 10.5 and 11.8 as Debian packages them, run by their own loader and libraries beside any
other system.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

from deploy.embedded.cache import cache_folder, install
from deploy.embedded.fetching.artifacts import pinned
from deploy.embedded.releases.archives import check_runs
from deploy.embedded.releases.debian_packages import release_number, unpack_with_needs
from deploy.embedded.servers.mariadb import MariaDB

LOCK: Final = Path(__file__).parents[1] / "fetching" / "debian.lock"
_LIBRARIES: Final = ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu")
_LOADER: Final = "ld-linux-x86-64.so.2"
_VERSION: Final = "version.txt"
_UNUSED: Final = (
    "usr/share/doc",
    "usr/share/man",
    "usr/share/locale",
    "usr/share/lintian",
    "usr/lib/x86_64-linux-gnu/gconv",
    "usr/lib/x86_64-linux-gnu/perl-base",
)


class _DebianMariaDB(MariaDB):
    """A release whose packages are unpacked, not installed; `suites` hold it."""

    suites: ClassVar[Sequence[str]]

    @classmethod
    def fetch(cls) -> str:
        install(cls._base(), cls._unpack)
        check_runs(cls._program()[:4], cls.name)
        return cls.release()

    @classmethod
    def _unpack(cls, base: Path) -> None:
        (artifact,) = pinned(cls.name, LOCK)
        version = unpack_with_needs(artifact, cls.suites, base)
        (base / _VERSION).write_text(f"{release_number(version)}\n", encoding="utf-8")
        for unused in _UNUSED:
            shutil.rmtree(base / unused, ignore_errors=True)

    @classmethod
    def _base(cls) -> Path:
        return cache_folder() / cls.release()

    @classmethod
    def _share(cls) -> Path:
        folders = (cls._base() / "usr/share" / name for name in ("mariadb", "mysql"))
        return next(folder for folder in folders if (folder / "fill_help_tables.sql").exists())

    @classmethod
    def _program(cls) -> Sequence[str | Path]:
        base = cls._base()
        folders = [base / folder for folder in _LIBRARIES if (base / folder).exists()]
        loader = next(folder / _LOADER for folder in folders if (folder / _LOADER).exists())
        program: list[str | Path] = [
            loader,
            "--library-path",
            ":".join(map(str, folders)),
            base / "usr/sbin/mariadbd",
        ]
        return [
            *program,
            "--no-defaults",
            f"--lc_messages_dir={cls._share()}",
            f"--character_sets_dir={cls._share() / 'charsets'}",
        ]


class MariaDB105(_DebianMariaDB):
    """MariaDB 10.5.29, the first series with row metadata."""

    name: ClassVar[str] = "mariadb-10.5"
    version: ClassVar[tuple[int, int, int]] = (10, 5, 29)
    system_sql_prefix: ClassVar[str] = "mysql"
    suites: ClassVar[Sequence[str]] = (
        "debian-security bullseye-security main",
        "debian bullseye main",
    )


class MariaDB118(_DebianMariaDB):
    """The MariaDB 11.8 that Debian 13 had when it was fetched."""

    name: ClassVar[str] = "mariadb-11.8"
    version: ClassVar[tuple[int, int, int]] = (11, 8, 0)
    suites: ClassVar[Sequence[str]] = ("debian trixie main", "debian-security trixie-security main")

    @classmethod
    def fetch(cls) -> str:
        """Download the packages if necessary; return the version that was unpacked."""
        super().fetch()
        return f"mariadb-{(cls._base() / _VERSION).read_text(encoding='utf-8').strip()}"

    @classmethod
    def release(cls) -> str:
        """Return the name, because the exact version depends on the day of the download."""
        return cls.name

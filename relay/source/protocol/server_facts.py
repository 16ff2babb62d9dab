"""Reads the identity and the settings of the source, once for each connection."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from relay.model.positions.executed import Executed
from relay.settings import SourceSettings
from relay.source.protocol.connection import SourceConnection

Flavor: TypeAlias = Literal["mysql", "mariadb"]

_VERSION: Final = re.compile(r"(\d+)\.(\d+)\.(\d+)")
REPLICA_VARIABLES: Final = (
    "log_slave_updates", "log_replica_updates", "slave_parallel_workers",
    "replica_parallel_workers", "slave_preserve_commit_order",
    "replica_preserve_commit_order", "slave_parallel_threads",
)  # fmt: skip
"""Variables that show whether a replica's own binlog has the replicated transactions, in the
order of its master.
"""
_GTID_SETS: Final = ("gtid_executed", "gtid_purged", "gtid_binlog_pos", "gtid_binlog_state")
"""Variables whose values SHOW VARIABLES cuts off without a sign: MySQL after 1,024 characters,
MariaDB after 2,048. The manual of MySQL ("SHOW VARIABLES Statement") says to SELECT such values.
"""
_VARIABLES: Final = (
    "server_id", "server_uuid", "gtid_mode", *_GTID_SETS, "gtid_strict_mode",
    "log_bin", "binlog_format", "binlog_row_image", "binlog_row_metadata", "binlog_checksum",
    "binlog_expire_logs_seconds", "binlog_expire_logs_auto_purge", "expire_logs_days",
    "sync_binlog", "lower_case_table_names", "character_set_server", *REPLICA_VARIABLES,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """The identity and settings of one server. `flavor` is MySQL or MariaDB, and `version` the
    three numbers of the release `version_text`.

    `variables` are the global variables that the relay uses; those that the server does not have
    are missing.
    """

    flavor: Flavor
    version: tuple[int, int, int]
    version_text: str
    server_id: int
    server_uuid: str
    variables: dict[str, str]

    @property
    def mariadb(self) -> bool:
        """Return whether the server is MariaDB; otherwise it is MySQL."""
        return self.flavor == "mariadb"

    @property
    def has_gtids(self) -> bool:
        """Return whether every transaction of the server has a GTID: always on MariaDB, with
        gtid_mode=ON on MySQL.
        """
        return self.mariadb or self.variables.get("gtid_mode", "OFF").upper() == "ON"

    @property
    def executed(self) -> str:
        """MySQL's gtid_executed; on MariaDB gtid_binlog_pos, the transaction of each domain that
        was logged last.
        """
        return self.variables.get(
            "gtid_binlog_pos" if self.mariadb else "gtid_executed", ""
        ).replace("\n", "")

    @property
    def held(self) -> Executed:
        """The transactions that the server has executed and logged, including purged ones."""
        return Executed.parse(self.executed, self.binlog_state, strict=self.gtids_strict)

    @property
    def binlog_state(self) -> str:
        """MariaDB's gtid_binlog_state: the newest number of each domain and server; "" on MySQL."""
        return self.variables.get("gtid_binlog_state", "") if self.mariadb else ""

    @property
    def gtids_strict(self) -> bool:
        """Return whether MariaDB refuses a GTID whose number is not greater than the last number of
        its domain (gtid_strict_mode).
        """
        return self.mariadb and self.variables.get("gtid_strict_mode", "OFF").upper() in ("ON", "1")

    def needs_history(self, settings: SourceSettings) -> bool:
        """Return whether column names must come from the schema history, because table maps lack
        them.
        """
        if settings.names != "auto":
            return settings.names == "history"
        return self.variables.get("binlog_row_metadata", "").upper() != "FULL"

    @property
    def purged(self) -> str:
        """MySQL's gtid_purged on one line; "" on MariaDB, and on MySQL without GTIDs."""
        return self.variables.get("gtid_purged", "").replace("\n", "")


def read_server_facts(connection: SourceConnection) -> ServerFacts:
    """Return the identity and settings of the server. Raises SourceUnreachable if it closes the
    connection.
    """
    version_text = str(connection.rows("SELECT VERSION()")[0][0])
    names = ", ".join(f"'{name}'" for name in _VARIABLES)
    rows = connection.rows(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})")
    variables = {str(name).lower(): str(value) for name, value in rows}
    variables |= _gtid_sets(connection, [each for each in _GTID_SETS if each in variables])
    mariadb = "mariadb" in version_text.lower()
    numbers = _VERSION.search(version_text)
    return ServerFacts(
        flavor="mariadb" if mariadb else "mysql",
        version=(int(numbers[1]), int(numbers[2]), int(numbers[3])) if numbers else (0, 0, 0),
        version_text=version_text,
        server_id=int(variables.get("server_id", "0")),
        # MariaDB 11 and later may show an empty or a provisional one; it identifies nothing there.
        server_uuid="" if mariadb else variables.get("server_uuid", ""),
        variables=variables,
    )


def _gtid_sets(connection: SourceConnection, names: Sequence[str]) -> dict[str, str]:
    """Return the whole values of these variables, which the server has."""
    if not names:
        return {}
    (values,) = connection.rows(f"SELECT {', '.join(f'@@GLOBAL.{each}' for each in names)}")
    return {name: str(value or "") for name, value in zip(names, values, strict=True)}

"""The last observed state of an instance's two servers, and operators' orders to switch, as values
without I/O.
"""

from dataclasses import dataclass
from enum import StrEnum

from relay.model.positions.executed import Executed
from relay.model.positions.position import SourceIdentity


class ServerRole(StrEnum):
    """One of the two configured addresses. It does not say which server takes writes at present."""

    MASTER = "master"
    STANDBY = "standby"

    @property
    def other(self) -> "ServerRole":
        """Return the role of the other configured server."""
        return ServerRole.STANDBY if self is ServerRole.MASTER else ServerRole.MASTER


@dataclass(frozen=True, slots=True)
class ServerSeen:
    """One server at its last heartbeat. If it does not answer, only the first five fields are
    updated.

    role          which of the two configured addresses it has
    place         its address, host:port
    answers       whether it answered the last heartbeat
    failures      consecutive heartbeats that it did not answer; a refusal sets the number to 0
    error         the last error, "" without one
    seen_ms       time of its last answer, Unix milliseconds; 0 without one
    gtids         whether it writes GTIDs
    executed      gtid_executed (MySQL) or gtid_binlog_pos (MariaDB)
    purged        gtid_purged, "" on MariaDB
    binlog_state  the newest number of each MariaDB domain and server, "" on MySQL
    strict        MariaDB's gtid_strict_mode
    """

    role: ServerRole
    place: str
    answers: bool = False
    failures: int = 0
    error: str = ""
    seen_ms: int = 0
    server_uuid: str = ""
    server_id: int = 0
    mariadb: bool = False
    gtids: bool = False
    executed: str = ""
    purged: str = ""
    binlog_state: str = ""
    strict: bool = False

    @property
    def held(self) -> Executed:
        """The transactions that the server has executed and logged, including purged ones."""
        return Executed.parse(self.executed, self.binlog_state, strict=self.strict)

    @property
    def known(self) -> bool:
        """Whether the server has ever answered."""
        return self.seen_ms > 0

    def is_of(self, identity: SourceIdentity) -> bool:
        """Return whether this is the server that a position belongs to."""
        if not self.known:
            return False
        return self.server_uuid == identity.server_uuid and (
            bool(identity.server_uuid) or self.server_id == identity.server_id
        )


@dataclass(frozen=True, slots=True)
class FailoverOrders:
    """The orders of operators about switches of an instance.

    hold       no automatic switch
    switch_to  switch to this server; None: no order
    accepted   GTIDs whose loss an operator has accepted explicitly
    """

    hold: bool = False
    switch_to: ServerRole | None = None
    accepted: str = ""


@dataclass(frozen=True, slots=True)
class Published:
    """The published transactions of a source.

    gtid_set    the complete ones
    split_gtid  the one of which only a part is published, "" if none
    """

    identity: SourceIdentity
    gtid_set: str
    split_gtid: str = ""

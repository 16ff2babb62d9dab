"""The last observed state of an instance's two servers, and operators' orders: values without
I/O.
"""

from dataclasses import dataclass
from enum import StrEnum

from relay.model.positions.executed import Executed
from relay.model.positions.position import SourceIdentity


class ServerRole(StrEnum):
    """Which of the two configured addresses; not which of the servers takes writes at the
    moment.
    """

    MASTER = "master"
    STANDBY = "standby"

    @property
    def other(self) -> "ServerRole":
        """Return the role of the other configured server."""
        return ServerRole.STANDBY if self is ServerRole.MASTER else ServerRole.MASTER


@dataclass(frozen=True, slots=True)
class ServerSeen:
    """One server at its last heartbeat.

    When it does not answer, all but the first five fields keep their former values.

    `failures` counts heartbeats that failed in a row because the server did not answer; a refusal
    is not counted. `executed` is gtid_executed or gtid_binlog_pos, `purged` gtid_purged ("" on
    MariaDB), `binlog_state` MariaDB's newest number of each domain and server ("" on MySQL),
    `strict` its gtid_strict_mode. `seen_ms` is Unix milliseconds of the last answer, 0 without one.
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
        """The transactions in the server's binlog: executed and not purged."""
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
    """The orders of operators.

    `accepted` are the GTIDs whose loss an operator has accepted explicitly.
    """

    hold: bool = False
    switch_to: ServerRole | None = None
    accepted: str = ""


@dataclass(frozen=True, slots=True)
class Published:
    """The published transactions of the source: `gtid_set` complete ones, `split_gtid` one with a
    visible part ("" if none).
    """

    identity: SourceIdentity
    gtid_set: str
    split_gtid: str = ""

"""The server that an instance reads, its standby, and where reading begins."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field, SecretStr, field_validator, model_validator

from relay.model.positions.gtid import GtidSet
from relay.settings.base import Port, Settings
from relay.settings.secrets import Secret


class TlsSettings(Settings):
    """TLS to a database server, with the names and values of MySQL's client options."""

    tls: Literal["disabled", "preferred", "required", "verify_ca", "verify_identity"] | None = None
    """What TLS requires.

    `disabled`: no TLS. `preferred`: TLS if the server offers it, without checking the certificate.
    `required`: TLS, without checking the certificate. `verify_ca`: the certificate's authority is
    checked. `verify_identity`: authority and host name are checked.

    Not set: `verify_identity` with `tls_ca`, `required` with `tls_cert` or `tls_legacy`, otherwise
    `preferred` (on this machine's loopback `disabled`).
    """
    tls_ca: Path | None = None
    """PEM file of the authority. Not set: the system's authorities."""
    tls_cert: Path | None = None
    """PEM file of the relay's own certificate, for accounts that REQUIRE X509."""
    tls_key: Path | None = None
    """PEM file of its key, without a passphrase."""
    tls_legacy: bool = False
    """Also accept TLS 1.0 and 1.1. MySQL 5.6 and early releases of 5.7 offer only these."""

    @model_validator(mode="after")
    def _tls_fits_together(self) -> "TlsSettings":
        if self.tls_key is not None and self.tls_cert is None:
            raise ValueError("tls_key needs tls_cert; set tls_cert, or remove tls_key")
        if self.tls in ("disabled", "preferred") and (self.tls_ca or self.tls_cert):
            raise ValueError(
                f"tls = '{self.tls}' uses neither tls_ca nor tls_cert; remove them, or set tls to "
                "'required', 'verify_ca' or 'verify_identity'"
            )
        if self.tls in ("disabled", "preferred") and self.tls_legacy:
            raise ValueError("tls_legacy needs tls = 'required', 'verify_ca' or 'verify_identity'")
        if self.tls == "required" and self.tls_ca:
            raise ValueError(
                "tls = 'required' does not use tls_ca; remove it, or set tls to 'verify_ca' or "
                "'verify_identity'"
            )
        return self


class StartSettings(Settings):
    """Where an instance without a position starts.

    Without `at`, the first of these that is set applies: gtid_set (which excludes the others),
    journal_name with position, journal_name with timestamp, journal_name alone, timestamp alone. If
    none is set: the end.
    """

    at: Literal["end", "oldest", "gtid_set", "position", "timestamp"] = "end"
    """Kind of start. Not set: derived from the other settings."""
    journal_name: str | None = None
    """Name of a binlog file. Alone: start at its beginning."""
    position: Annotated[int, Field(ge=4)] | None = None
    """Offset in that file where a transaction's first event begins."""
    timestamp: AwareDatetime | None = None
    """A time with its time zone, or Unix milliseconds."""
    gtid_set: str | None = None
    """GTID set of all transactions before the start: reading begins with the first transaction that
    it lacks.

    The value of `@@gtid_executed` on MySQL, or of `@@gtid_binlog_pos` on MariaDB.
    """

    @field_validator("gtid_set")
    @classmethod
    def _is_a_gtid_set(cls, value: str | None) -> str | None:
        if value is not None and GtidSet.parse(value).empty:
            raise ValueError("the set is empty; to read from the beginning, set at = 'oldest'")
        return value

    @model_validator(mode="before")
    @classmethod
    def _first_that_is_set(cls, values: Any) -> Any:
        if not isinstance(values, dict) or values.get("at") is not None:
            return values
        named, placed, timed, executed = (
            values.get(name) is not None
            for name in ("journal_name", "position", "timestamp", "gtid_set")
        )
        at = (
            "gtid_set"
            if executed
            else "timestamp"
            if timed and not (named and placed)
            else "position"
            if named or placed
            else "end"
        )
        return {**values, "at": at}

    @model_validator(mode="after")
    def _place_is_whole(self) -> "StartSettings":
        if self.at in ("end", "oldest", "gtid_set") and (
            self.journal_name or self.position or self.timestamp
        ):
            raise ValueError(
                f"journal_name, position and timestamp do not belong to at = '{self.at}'; remove "
                "them, or change at"
            )
        if (self.at == "gtid_set") is not (self.gtid_set is not None):
            raise ValueError("at = 'gtid_set' needs gtid_set, and gtid_set needs at = 'gtid_set'")
        if self.at == "position" and self.journal_name is None:
            raise ValueError("at = 'position' needs journal_name; set it to a binlog file")
        if self.at == "timestamp" and self.timestamp is None:
            raise ValueError("at = 'timestamp' needs timestamp; set it to a time")
        return self


class OtherServerSettings(TlsSettings):
    """A further server. Settings that are missing have the values of the source."""

    host: str
    """Host of the server."""
    port: Port = 3306
    """Port of the server."""
    user: str | None = None
    """User. Not set: the source's user."""
    password: Secret | None = None
    """Password. Not set: the source's password."""


class StandbySettings(OtherServerSettings):
    """The server that is read when the source fails. Settings that are missing have the values of
    the source.
    """

    start: StartSettings | None = None
    """Where an instance without a position starts at this server, if the source fails before the
    first position is stored.

    Not set: such an instance waits until the source answers.
    """


class SourceSettings(TlsSettings):
    """One MySQL or MariaDB server, read as a replica."""

    host: str
    """Host of the source."""
    port: Port = 3306
    """Port of the source."""
    user: str
    """Account with REPLICATION SLAVE, REPLICATION CLIENT (MariaDB: BINLOG MONITOR) and SELECT."""
    password: Secret = SecretStr("")
    """Password of the account."""
    server_id: Annotated[int, Field(ge=1, le=2**32 - 1)] | None = None
    """Replica id (server_id), different from that of every other replica. Not set: the relay
    chooses a free one.
    """
    gtid: bool = True
    """Store the GTID set together with the position."""
    heartbeat_seconds: Annotated[float, Field(gt=0)] = 1
    """Interval of the source's heartbeats while it has no events."""
    read_timeout_seconds: Annotated[float, Field(gt=0)] = 15
    """The relay reconnects after this time without an event or a heartbeat."""
    connect_timeout_seconds: Annotated[float, Field(gt=0)] = 10
    """Timeout for opening a connection."""
    receive_buffer_bytes: Annotated[int, Field(ge=4096, le=2**30)] | None = None
    """Receive buffer of the connection (SO_RCVBUF); larger for distant servers. The kernel's
    limit (Linux: net.core.rmem_max) still applies. Not set: the kernel chooses.
    """
    send_buffer_bytes: Annotated[int, Field(ge=4096, le=2**30)] | None = None
    """Send buffer of the connection (SO_SNDBUF). Not set: the kernel chooses."""
    standby: StandbySettings | None = None
    """The server that is read when this one fails. Not set: none."""
    names: Literal["auto", "table_map", "history"] = "auto"
    """Source of column names.

    `table_map`: the binlog (needs binlog_row_metadata=FULL). `history`: the schema history that the
    relay keeps. `auto`: the history if metadata is not FULL.
    """
    statements: Literal["refuse", "publish"] = "refuse"
    """Whether a source may log changes as SQL text (binlog_format MIXED or STATEMENT).

    `refuse`: the instance stops if the server's binlog_format is not ROW. `publish`: any format is
    accepted. A change that is logged as SQL text, which one session can request for itself, is
    published as a `QUERY` message with both values.
    """

    @model_validator(mode="after")
    def _standby_is_another_server(self) -> "SourceSettings":
        if self.standby is not None and (self.standby.host, self.standby.port) == (
            self.host,
            self.port,
        ):
            raise ValueError(
                "standby has the address of the source itself; correct its host and port, or "
                "remove it"
            )
        return self

    @property
    def starts_at_standby(self) -> bool:
        """Whether an instance without a position may start at the standby."""
        return self.standby is not None and self.standby.start is not None

    def at_standby(self) -> "SourceSettings | None":
        """Return the same settings with the standby's address and login; None without a standby."""
        if self.standby is None:
            return None
        return self.at(self.standby)

    def at(self, other: OtherServerSettings) -> "SourceSettings":
        """Return the same settings with the address and login of another server."""
        theirs = {
            name: value
            for name, value in other
            if value is not None and name in other.model_fields_set | {"port"}
        }
        for own in ("name", "standby", "start"):
            theirs.pop(own, None)
        return self.model_copy(update={**theirs, "standby": None})


class FailoverSettings(Settings):
    """When the relay switches to the standby, with the names of Canal's settings."""

    detecting_enable: bool = True
    """Send heartbeats by SQL to both servers."""
    detecting_interval_seconds: Annotated[float, Field(gt=0)] = 3
    """Interval between two heartbeats."""
    retry_threshold: Annotated[int, Field(ge=1)] = 3
    """A server has failed after this number of consecutive failed heartbeats."""
    heartbeat_ha_enable: bool = False
    """Failed heartbeats alone cause a switch to the other server. `false`: an operator decides."""
    virtual_address: bool = False
    """Accept another server at the source's address, if it passes the same checks as a standby."""
    switch_without_gtid: Literal["stop", "fallback", "digest"] = "stop"
    """How to switch between servers without GTIDs.

    `stop`: the instance stops instead. `fallback`: the relay goes back in time and repeats rows.
    `digest`: the relay finds the position by digests of transactions.
    """
    fallback_interval_seconds: Annotated[float, Field(ge=0)] = 60
    """How far `fallback` goes back. `digest` begins its search this far before the position."""

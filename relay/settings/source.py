"""The server that an instance reads, its standby, and where reading begins."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field, SecretStr, model_validator

from relay.settings.base import Port, Settings


class TlsSettings(Settings):
    """How a connection to a database server is kept from others, in the words of MySQL's clients.

    `tls` None: "verify_identity" with `tls_ca`, "required" with `tls_cert` or `tls_legacy`, else "preferred" (on this machine's own
    loopback "disabled").
    The "verify" modes check the certificate against `tls_ca`, else against the system's authorities, and "verify_identity" the name too.
    `tls_legacy` lets TLS 1.0 and 1.1 pass, all that MySQL 5.6 and early releases of 5.7 speak.
    """

    tls: Literal["disabled", "preferred", "required", "verify_ca", "verify_identity"] | None = None
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    tls_legacy: bool = False

    @model_validator(mode="after")
    def _tls_fits_together(self) -> "TlsSettings":
        if self.tls_key is not None and self.tls_cert is None:
            raise ValueError("tls_key belongs to a tls_cert")
        if self.tls in ("disabled", "preferred") and (self.tls_ca or self.tls_cert):
            raise ValueError(f"tls = '{self.tls}' looks at no tls_ca and shows no tls_cert")
        if self.tls in ("disabled", "preferred") and self.tls_legacy:
            raise ValueError("tls_legacy belongs to a TLS that is required")
        if self.tls == "required" and self.tls_ca:
            raise ValueError("tls = 'required' looks at no tls_ca: 'verify_ca' and 'verify_identity' do")
        return self


class StandbySettings(TlsSettings):
    """The server that takes the source's place when that fails. What is not set is as at the source itself."""

    host: str
    port: Port = 3306
    user: str | None = None
    password: SecretStr | None = None


class SourceSettings(TlsSettings):
    """One MySQL or MariaDB server, read as a replica. `server_id` None: a number that no other replica of the source has.

    `names` says where columns get their names from: "table_map" wants binlog_row_metadata=FULL, "history" follows the source's tables,
    "auto" does so where the source's metadata is not FULL. `statements` "publish" takes a source whose binlog_format is MIXED or STATEMENT.
    """

    host: str
    port: Port = 3306
    user: str
    password: SecretStr = SecretStr("")
    server_id: Annotated[int, Field(ge=1, le=2**32 - 1)] | None = None
    gtid: bool = True
    heartbeat_seconds: Annotated[float, Field(gt=0)] = 1
    read_timeout_seconds: Annotated[float, Field(gt=0)] = 15
    connect_timeout_seconds: Annotated[float, Field(gt=0)] = 10
    standby: StandbySettings | None = None
    names: Literal["auto", "table_map", "history"] = "auto"
    statements: Literal["refuse", "publish"] = "refuse"

    @model_validator(mode="after")
    def _standby_is_another_server(self) -> "SourceSettings":
        if self.standby is not None and (self.standby.host, self.standby.port) == (self.host, self.port):
            raise ValueError("standby has the address of the source itself")
        return self

    def at_standby(self) -> "SourceSettings | None":
        """The same settings with the standby's address and login; None where there is no standby."""
        if self.standby is None:
            return None
        return self.at(self.standby)

    def at(self, other: StandbySettings) -> "SourceSettings":
        """The same settings with the address and login of another server."""
        theirs = {name: value for name, value in other if value is not None and name in other.model_fields_set | {"port"}}
        for own in ("name", "standby"):
            theirs.pop(own, None)
        return self.model_copy(update={**theirs, "standby": None})


class FailoverSettings(Settings):
    """When the source's place is taken by its standby, in the words of Canal's settings.

    `heartbeat_ha_enable` lets failed heartbeats alone decide; without it an operator does. `virtual_address` says that another server
    may come to stand at the source's address. Without GTIDs servers say nothing of what a standby holds: `switch_without_gtid` "stop"
    stands still, "fallback" goes back by `fallback_interval_seconds` and repeats what lies between, "digest" keeps digests of what is
    published and goes on where they are found, looking from `fallback_interval_seconds` (and `max_clock_skew_seconds`) before them on.
    """

    detecting_enable: bool = True
    detecting_interval_seconds: Annotated[float, Field(gt=0)] = 3
    retry_threshold: Annotated[int, Field(ge=1)] = 3
    heartbeat_ha_enable: bool = False
    virtual_address: bool = False
    switch_without_gtid: Literal["stop", "fallback", "digest"] = "stop"
    fallback_interval_seconds: Annotated[float, Field(ge=0)] = 60


class StartSettings(Settings):
    """Where an instance without a saved position starts: a place by name, a time, or the ends of what the server has.

    Without `at` the first of these that is set counts: journal_name with position, journal_name with timestamp, journal_name alone
    (the beginning of that file), timestamp alone; with none of them set the end. A timestamp is a time with its zone, or Unix milliseconds.
    """

    at: Literal["end", "oldest", "position", "timestamp"] = "end"
    journal_name: str | None = None
    position: Annotated[int, Field(ge=4)] | None = None
    timestamp: AwareDatetime | None = None

    @model_validator(mode="before")
    @classmethod
    def _first_that_is_set(cls, values: Any) -> Any:
        if not isinstance(values, dict) or values.get("at") is not None:
            return values
        named, placed, timed = (values.get(name) is not None for name in ("journal_name", "position", "timestamp"))
        at = "timestamp" if timed and not (named and placed) else "position" if named or placed else "end"
        return {**values, "at": at}

    @model_validator(mode="after")
    def _place_is_whole(self) -> "StartSettings":
        if self.at in ("end", "oldest") and (self.journal_name or self.position or self.timestamp):
            raise ValueError(f"journal_name, position and timestamp do not belong to at = '{self.at}'")
        if self.at == "position" and self.journal_name is None:
            raise ValueError("at = 'position' needs journal_name")
        if self.at == "timestamp" and self.timestamp is None:
            raise ValueError("at = 'timestamp' needs timestamp")
        return self

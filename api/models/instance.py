"""Bodies of answers about instances and relays."""

from pydantic import BaseModel, ConfigDict, Field

from relay.state import DroppedName, InstanceStatus, RelayMember


class InstanceView(BaseModel):
    """One instance: its state, the reason, and the remedy. Times are in Unix milliseconds.

    The position is a copy that the relay writes at intervals; the committed position is in Kafka.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "name": "shop",
                "state": "STOPPED",
                "code": "BINLOG_PURGED",
                "reason": "The source no longer has mysql-bin.000012.",
                "remedy": "Restore the missing binlog files on the source.",
                "relay": "relay-1",
                "relay_alive": True,
                "epoch": 2,
                "mapping_set": 12,
                "mapping_problem": "",
                "position_file": "mysql-bin.000012",
                "position_offset": 4711,
                "gtid_set": "",
                "execute_time": 1767225600000,
                "execute_position": "4503650927935488",
                "published_rows": 1000,
                "dead_letters": 0,
                "claims": 0,
                "dropped_rows": {"filter": 100, "rule_condition": 7},
                "lag_seconds": 0.02,
                "buffer_put": 1000,
                "buffer_get": 1000,
                "buffer_ack": 1000,
                "buffer_bytes": 0,
                "spool": "",
                "spool_bytes": 0,
                "spool_age_seconds": 0.0,
                "spool_problem": "",
                "held_back": "",
                "unlogged_changes": "",
                "keys_differ": "",
                "sources": {},
                "passed_over": 0,
                "row_printer": "compiled, readable",
                "printed_rows": {"compiled": 990, "readable: value": 10},
                "binlog_kept_seconds": 604800,
                "run_time": False,
                "updated_ms": 1767225600100,
                "source_address": "db-1:3306",
                "since_ms": 1767225500000,
                "present_state": "STOPPED",
                "since_exact": True,
                "rows_per_second": 0.0,
                "missing_files": "mysql-bin.000012",
                "unmapped": "",
            }
        }
    )

    name: str
    state: str
    code: str
    reason: str
    remedy: str
    relay: str
    relay_alive: bool = Field(
        description=(
            "Whether the relay that reported this still runs; if not, this is its last report. "
        )
    )
    epoch: int
    mapping_set: int
    mapping_problem: str
    position_file: str
    position_offset: int
    gtid_set: str
    execute_time: int | None
    execute_position: str | None = Field(
        description="63 bits as text, because many JSON readers round numbers above 2^53."
    )
    published_rows: int
    dead_letters: int = Field(description="Rows kept back as dead letters since the relay's start.")
    claims: int = Field(
        description="Messages whose value is stored elsewhere, since the relay's start."
    )
    dropped_rows: dict[str, int] = Field(
        description="Row changes left out since the relay's start, by cause."
    )
    lag_seconds: float | None
    buffer_put: int
    buffer_get: int
    buffer_ack: int
    buffer_bytes: int
    spool: str = Field(
        description=(
            "State of the spool on disk: `filling`, `draining` or `full`; empty while nothing "
            "waits there."
        )
    )
    spool_bytes: int = Field(description="Size of the spool on disk.")
    spool_age_seconds: float = Field(
        description="For how long the oldest event in the spool has waited."
    )
    spool_problem: str = Field(
        description="What keeps the spool from being filled, or the instance from having one."
    )
    held_back: str = Field(
        description=(
            "What limits the instance: a pause, rate limits, or sources of a group that "
            "are not read."
        )
    )
    unlogged_changes: str = Field(
        description="Relayed tables whose rows foreign keys change without binlog events."
    )
    keys_differ: str = Field(
        description="Sentences about topics in which this instance and another one assign equal "
        "keys to different partitions. The difference is older than the check that refuses it."
    )
    sources: dict[str, str] = Field(
        description="Of a group: the position of each source, `file:offset`, by name."
    )
    passed_over: int = Field(
        description="Of a group: sources that do not answer while the others are read."
    )
    row_printer: str = Field(
        description="The printers that have printed rows since the relay's start, the one with the "
        "most rows first: `compiled`, and the slower `readable`. Their messages are the same."
    )
    printed_rows: dict[str, int] = Field(
        description="Rows printed since the relay's start, by printer. For `readable` the key also "
        "has the reason why it was used, as in `readable: value`."
    )
    binlog_kept_seconds: int | None = Field(
        description="How long the source keeps a binlog file at least, 0: until a command purges "
        "it; null while the relay does not know it. Of a group the shortest."
    )
    run_time: bool = Field(
        description="Whether it is defined at run time (`…/settings`), and not by a relay's file."
    )
    updated_ms: int
    source_address: str = Field(
        default="",
        description="`host:port` of its source; empty if this admin does not have its settings.",
    )
    since_ms: int | None = Field(
        default=None,
        description="Since when this admin has seen the present state; null: not seen yet.",
    )
    present_state: str = Field(
        default="",
        description="The state now. If the relay that reported `state` has ended, it is STANDBY, "
        "except for states that then still apply, such as STOPPED.",
    )
    since_exact: bool | None = Field(
        default=None, description="False: the state may have begun before `since_ms`."
    )
    rows_per_second: float | None = Field(
        default=None, description="Published rows per second now; null: not known."
    )
    missing_files: str = Field(
        default="", description="Binlog files that it needs and that the source has purged."
    )
    unmapped: str = Field(
        default="",
        description="The table or database that stopped it, because no mapping names it.",
    )
    table_rates: dict[str, float] | None = Field(default=None, exclude=True)
    """Rows per second by real table; the endpoint `rates` shows them."""

    @classmethod
    def of(cls, status: InstanceStatus, *, relay_alive: bool) -> "InstanceView":
        """Return the view of a status.

        `relay_alive` tells whether the relay that wrote the status is still running.
        """
        return cls.model_validate({**status.to_fields(), "relay_alive": relay_alive})


class DroppedNameView(BaseModel):
    """A real table whose rows are not published, the reason, and the number of these rows since the
    relay's start.
    """

    name: str
    reason: str
    rows: int
    first_seen_ms: int | None = Field(
        description="When a relay listed it first, Unix milliseconds; null: before this was noted."
    )

    @classmethod
    def of(cls, dropped: DroppedName) -> "DroppedNameView":
        """Return the view of a real table whose rows are not published."""
        return cls(
            name=dropped.name,
            reason=dropped.reason,
            rows=dropped.rows,
            first_seen_ms=dropped.first_ms or None,
        )


class TableRateView(BaseModel):
    """Rows per second of one real table. The name `(other)` means all tables without a separate
    rate.
    """

    table: str
    rows_per_second: float


def table_rates(instance: InstanceView) -> list[TableRateView]:
    """Return the rates by table in an instance's present status, the highest first."""
    found = instance.table_rates if instance.relay_alive else None
    return [
        TableRateView(table=table, rows_per_second=rate)
        for table, rate in sorted((found or {}).items(), key=lambda each: -each[1])
    ]


class RelayView(BaseModel):
    """A relay process that is connected to ZooKeeper. `server` keeps its value when the relay
    restarts.
    """

    name: str
    host: str
    pid: int
    status_url: str
    instances: list[str]
    started_ms: int
    server: str
    session_timeout_ms: int = Field(
        description="After this time without a heartbeat ZooKeeper ends its session; 0: unknown."
    )

    @classmethod
    def of(cls, member: RelayMember) -> "RelayView":
        """Return the view of a relay process, without the instances that it could run."""
        return cls(
            name=member.name,
            host=member.host,
            pid=member.pid,
            status_url=member.status_url,
            instances=list(member.instances),
            started_ms=member.started_ms,
            server=member.server,
            session_timeout_ms=member.session_timeout_ms,
        )

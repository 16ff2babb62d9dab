"""What an instance does now, as its relay writes it and operators read it."""

from dataclasses import asdict, dataclass, field

from relay.state.json_object import JsonObject, write_json

UNKNOWN_STATE = "UNKNOWN"
"""The state of an instance whose status cannot be read."""


@dataclass(frozen=True, slots=True)
class InstanceStatus:
    """One moment of an instance.

    Times in Unix milliseconds unless the name says otherwise; empty text and None: not known.

    `state` is what it does, in a word; `code`, `reason` and `remedy` are those of the error that
    keeps it there. `mapping_set` is the set in force for the rows being published,
    `mapping_problem` why a newer one is not. The position is a copy for people: the relay itself
    trusts Kafka's alone. `published_rows`, `dead_letters` and `claims` are those that Kafka has
    committed since the relay's start; the buffer cursors count slots since the source was last
    connected. `dropped_rows` counts those that were left out since then, by cause. `spool` says
    what its spool on disk does, `filling`, `draining` or `full`; `spool_age_seconds` for how long
    the oldest in it has waited. `held_back` says what keeps it from going as fast as it can, or
    from reading all its sources: a pause, limits, sources that are dead. `unlogged_changes` names
    relayed tables whose rows foreign keys change without a word in the binlog. For a group, the
    position is that of the source that was published last, `sources` are those of all
    (`file:offset`) by name, and `passed_over` counts those that are not read for now. `row_printer`
    names what has printed rows since the relay's start, the one with most rows first: `compiled`,
    `readable`. `run_time`: the instance is defined by a document in ZooKeeper, not by a relay's
    file. `printed_rows` counts these rows by path, for the slow one with the reason (`readable:
    value`); both print the same.
    """

    name: str
    state: str
    code: str = ""
    reason: str = ""
    remedy: str = ""
    relay: str = ""
    epoch: int = 0
    mapping_set: int = 0
    mapping_problem: str = ""
    position_file: str = ""
    position_offset: int = 0
    gtid_set: str = ""
    execute_time: int | None = None
    execute_position: int | None = None
    published_rows: int = 0
    dead_letters: int = 0
    claims: int = 0
    dropped_rows: dict[str, int] = field(default_factory=dict)
    lag_seconds: float | None = None
    buffer_put: int = 0
    buffer_get: int = 0
    buffer_ack: int = 0
    buffer_bytes: int = 0
    spool: str = ""
    spool_bytes: int = 0
    spool_age_seconds: float = 0.0
    spool_problem: str = ""
    row_printer: str = ""
    printed_rows: dict[str, int] = field(default_factory=dict)
    held_back: str = ""
    unlogged_changes: str = ""
    sources: dict[str, str] = field(default_factory=dict)
    passed_over: int = 0
    run_time: bool = False
    updated_ms: int = 0

    def to_fields(self) -> dict[str, object]:
        """Return the JSON object.

        Execute_position is text in it, because many JSON readers round numbers above 2^53.
        """
        fields = asdict(self)
        if self.execute_position is not None:
            fields["execute_position"] = str(self.execute_position)
        return fields

    def to_document(self) -> bytes:
        """Return the JSON document of `to_fields`, as operators and the admin read it."""
        return write_json(self.to_fields())

    @classmethod
    def from_document(cls, name: str, value: bytes) -> "InstanceStatus":
        """Read a status of this or another version; what is missing or unreadable gets its
        default.
        """
        fields = JsonObject.read(value)
        return cls(
            name=name,
            state=fields.text("state", UNKNOWN_STATE),
            code=fields.text("code"),
            reason=fields.text("reason"),
            remedy=fields.text("remedy"),
            relay=fields.text("relay"),
            epoch=fields.whole("epoch"),
            mapping_set=fields.whole("mapping_set"),
            mapping_problem=fields.text("mapping_problem"),
            position_file=fields.text("position_file"),
            position_offset=fields.whole("position_offset"),
            gtid_set=fields.text("gtid_set"),
            execute_time=fields.whole_or_none("execute_time"),
            execute_position=fields.whole_or_none("execute_position"),
            published_rows=fields.whole("published_rows"),
            dead_letters=fields.whole("dead_letters"),
            claims=fields.whole("claims"),
            dropped_rows=fields.wholes("dropped_rows"),
            lag_seconds=fields.real_or_none("lag_seconds"),
            buffer_put=fields.whole("buffer_put"),
            buffer_get=fields.whole("buffer_get"),
            buffer_ack=fields.whole("buffer_ack"),
            buffer_bytes=fields.whole("buffer_bytes"),
            spool=fields.text("spool"),
            spool_bytes=fields.whole("spool_bytes"),
            spool_age_seconds=fields.real_or_none("spool_age_seconds") or 0.0,
            spool_problem=fields.text("spool_problem"),
            row_printer=fields.text("row_printer"),
            printed_rows=fields.wholes("printed_rows"),
            held_back=fields.text("held_back"),
            unlogged_changes=fields.text("unlogged_changes"),
            sources=fields.texts_by_name("sources"),
            passed_over=fields.whole("passed_over"),
            run_time=fields.truth("run_time"),
            updated_ms=fields.whole("updated_ms"),
        )

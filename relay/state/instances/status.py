"""The present status of an instance: its relay writes it, and operators and the admin read it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from relay.state.json_object import JsonObject, write_json

UNKNOWN_STATE = "UNKNOWN"
"""The state of an instance whose status cannot be read."""

_READERS: Final[Mapping[object, Callable[[JsonObject, str], Any]]] = {
    str: JsonObject.text,
    int: JsonObject.whole,
    int | None: JsonObject.whole_or_none,
    float: lambda stored, name: stored.real_or_none(name) or 0.0,
    float | None: JsonObject.real_or_none,
    bool: JsonObject.truth,
    dict[str, int]: JsonObject.wholes,
    dict[str, str]: JsonObject.texts_by_name,
    dict[str, float] | None: JsonObject.reals_or_none,
    dict[str, Any]: JsonObject.plain,
}
"""The reader of each type of a field; it returns the default if the value is missing or damaged."""


@dataclass(frozen=True, slots=True)
class InstanceStatus:
    """The status of an instance at one moment. Times are Unix milliseconds unless the name says
    otherwise; "" and None mean unknown. Counts begin at the relay's start; the cursors
    `buffer_put`, `buffer_get` and `buffer_ack` begin at the last connection to the source.

    state                what it does, in a word
    code, reason, remedy  the error that keeps it in this state
    relay                the relay that reports
    mapping_set          the set under which rows are published
    mapping_problem      why a newer set is not active, "" if no set is newer
    published_set        the set in the last committed position record; Kafka has the markers of all
                         moves of tables up to this set
    position_file, position_offset, gtid_set, execute_time, execute_position, epoch
                         a copy of the position for people; the relay reads the one in Kafka
    sources              for a group, `file:offset` of each source by name; the position is that
                         of the source that was published last
    passed_over          for a group, how many sources are not read now
    published_rows, dead_letters, claims  what Kafka has committed
    dropped_rows         rows without a message, by cause
    lag_seconds          the lag, measured by the leader only
    held_back            what slows or limits it: a pause, rate limits, sources that are not read
    spool                "filling", "draining", "full", or "" for an empty spool
    spool_age_seconds    how long the oldest event in the spool has waited
    unlogged_changes     published tables whose rows foreign keys change without a binlog event
    keys_differ          topics in which other instances place equal keys in other partitions
    row_printer          what printed rows, the most used first: `compiled`, `readable`
    printed_rows         rows by path, with the reason of a slow one (`readable: value`)
    run_time             whether a document in ZooKeeper defines the instance, not a relay's file
    snapshot             the running copy request, {} without one
    table_rates          rows per second of the last minute: the busiest real tables by name, the
                         others as `(other)`; None: not reported
    binlog_kept_seconds  how long the source keeps a binlog file at least, for a group the shortest;
                         0: until a command purges it
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
    published_set: int | None = None
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
    keys_differ: str = ""
    sources: dict[str, str] = field(default_factory=dict)
    passed_over: int = 0
    snapshot: dict[str, Any] = field(default_factory=dict)
    table_rates: dict[str, float] | None = None
    binlog_kept_seconds: int | None = None
    run_time: bool = False
    updated_ms: int = 0

    def to_fields(self) -> dict[str, object]:
        """Return the fields of the JSON document. They share the objects of the status, so the
        caller must not change them.

        `execute_position` is text, because many JSON readers round numbers above 2^53.
        """
        document: dict[str, object] = {name: getattr(self, name) for name in _FIELDS}
        if self.execute_position is not None:
            document["execute_position"] = str(self.execute_position)
        return document

    def to_document(self) -> bytes:
        """Return the JSON document of `to_fields`, as operators and the admin read it."""
        return write_json(self.to_fields())

    @classmethod
    def from_document(cls, name: str, value: bytes) -> "InstanceStatus":
        """Return the status in a document of any version. Missing or unreadable fields get their
        defaults.
        """
        stored = JsonObject.read(value)
        found = {name: read(stored, name) for name, read in _FIELDS.items()}
        return cls(**{**found, "name": name, "state": stored.text("state", UNKNOWN_STATE)})


_FIELDS: Final[Mapping[str, Callable[[JsonObject, str], Any]]] = {
    each.name: _READERS[each.type] for each in fields(InstanceStatus)
}
"""The reader of each field of a status, by its name."""

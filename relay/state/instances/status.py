"""The present state of an instance, as its relay writes it and operators read it."""

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
    """One moment of an instance.

    Times in Unix milliseconds unless the name says otherwise; empty text and None: not known.

    `state` is what it does, in a word; `code`, `reason` and `remedy` are those of the error
    that keeps it there. `mapping_set` is the active set for the rows being published,
    `mapping_problem` why a newer one is not. `published_set` is the set of the last committed
    position record: every marker of moved tables up to it is in Kafka. The position is a copy
    for people: the relay itself trusts Kafka's alone. `published_rows`, `dead_letters` and
    `claims` are those that Kafka has committed since the relay's start; the buffer cursors
    count slots since the source was last connected. `dropped_rows` counts those that were left
    out since then, by cause. `spool` says what its spool on disk does, `filling`, `draining` or
    `full`; `spool_age_seconds` for how long the oldest in it has waited. `held_back` says what
    keeps it from going as fast as it can, or from reading all its sources: a pause, limits,
    sources that are dead. `unlogged_changes` names relayed tables whose rows foreign keys
    change without a word in the binlog. `keys_differ` names topics whose equal keys other
    instances place in other partitions. For a group, the position is that of the source that
    was published last, `sources` are those of all (`file:offset`) by name, and `passed_over`
    counts those that are not read for now. `row_printer` names what has printed rows since the
    relay's start, the one with most rows first: `compiled`, `readable`. `run_time`: the
    instance is defined by a document in ZooKeeper, not by a relay's file. `printed_rows` counts
    these rows by path, for the slow one with the reason (`readable: value`); both print the
    same. `snapshot` is the request to copy tables that is under way, {} where there is none.
    `table_rates` holds the rows per second of the last minute that each real table has, the
    busiest ones by name and the others together as `(other)`; None if it reports
    none. `binlog_kept_seconds` is how long the source keeps a binlog file at least, 0: until a
    command purges it; of a group the shortest.
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
        """Return the JSON object. Its objects are those of the status: they are only read.

        Execute_position is text in it, because many JSON readers round numbers above 2^53.
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
        """Read a status of this or another version; missing or unreadable fields get their
        defaults.
        """
        stored = JsonObject.read(value)
        found = {name: read(stored, name) for name, read in _FIELDS.items()}
        return cls(**{**found, "name": name, "state": stored.text("state", UNKNOWN_STATE)})


_FIELDS: Final[Mapping[str, Callable[[JsonObject, str], Any]]] = {
    each.name: _READERS[each.type] for each in fields(InstanceStatus)
}
"""The reader of each field of a status, by its name."""

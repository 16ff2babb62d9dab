"""The records of the schema history in Kafka. A version is the definition of one table from a
position on; a base marks the definitions of all tables at a position.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson

from relay.model.table import TableId
from relay.schema.history.described import DescribedTable
from relay.schema.history.followed_tables import FollowedTables
from relay.schema.history.history_position import HistoryPosition
from relay.schema.history.known_tables import Known

_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Version:
    """The definition of a table after a position.

    known    the definition, None if the table was dropped. If the table's name is "": the default
             character set of its database
    initial  whether it belongs to the base at its position. It is then valid at the position itself
    """

    position: HistoryPosition
    table: TableId
    known: Known | None
    initial: bool = False

    @property
    def key(self) -> bytes:
        """The Kafka key: a JSON array of database, table and position."""
        return orjson.dumps([self.table.database, self.table.table, *self.position])

    def to_bytes(self) -> bytes:
        """Return the Kafka value. For a dropped table it contains null; it is not a tombstone."""
        known = self.known.to_fields() if isinstance(self.known, DescribedTable) else self.known
        return orjson.dumps({"format": _FORMAT, "known": known, "initial": self.initial})


@dataclass(frozen=True, slots=True)
class Base:
    """Marks that the definitions of all tables at a position follow. Earlier records of this server
    are no longer needed.

    `held` is the GTID set at the position. After a switch, some of its transactions may come later
    in the binlog, and the definitions already contain their changes. None: an older version did not
    store it.
    """

    position: HistoryPosition
    held: str | None = None

    @property
    def key(self) -> bytes:
        """The Kafka key: that of a version with empty names."""
        return orjson.dumps(["", "", *self.position])

    def to_bytes(self) -> bytes:
        """Return the Kafka value: the format number and the GTID set; the key has the position."""
        return orjson.dumps({"format": _FORMAT, "held": self.held})


def parse_record(key: bytes, value: bytes) -> Version | Base:
    """Return the record with this Kafka key and value. Raises ValueError, KeyError or TypeError if
    it has another format.
    """
    database, table, *position = orjson.loads(key)
    fields: dict[str, Any] = orjson.loads(value)
    if fields["format"] != _FORMAT:
        raise ValueError(f"its format is {fields['format']}")
    if not database:
        return Base(HistoryPosition(*position), fields.get("held"))
    known = fields["known"]
    return Version(
        HistoryPosition(*position),
        TableId(database, table),
        DescribedTable.from_fields(known) if isinstance(known, dict) else known,
        fields["initial"],
    )


def folded(
    records: Iterable[Version | Base], at: HistoryPosition, schemas: FollowedTables
) -> list[Version] | None:
    """Add the definitions at the position `at` to `schemas`; return the later versions, in order.

    None if there is no base at or before the position.
    """
    ours = [record for record in records if record.position.server == at.server]
    base = base_at(ours, at)
    if base is None:
        return None
    begun = base.position
    versions = _in_order(ours)
    for version in _holding(versions, begun, at):
        enter(version, schemas)
    return [version for version in versions if version.position >= at and not version.initial]


def superseded(records: Iterable[Version | Base], oldest: HistoryPosition) -> list[Version | Base]:
    """Return the records that are not needed for the definitions at `oldest` or at any later
    position. Only records of the server of `oldest` are returned.
    """
    ours = [record for record in records if record.position.server == oldest.server]
    base = base_at(ours, oldest)
    if base is None:
        return []
    begun = base.position
    gone = [record for record in ours if record.position < begun]
    last: dict[TableId, Version] = {}
    for version in _holding(_in_order(ours), begun, oldest):
        if version.table in last:
            gone.append(last[version.table])
        last[version.table] = version
    return [*gone, *(version for version in last.values() if version.known is None)]


def base_at(records: Iterable[Version | Base], at: HistoryPosition) -> Base | None:
    """Return the base from which the definitions at the position `at` are computed; None if there
    is none at or before it.
    """
    ours = (
        record
        for record in records
        if isinstance(record, Base)
        and record.position.server == at.server
        and record.position <= at
    )
    return max(ours, key=lambda base: base.position, default=None)


def later_bases(records: Iterable[Version | Base], at: HistoryPosition) -> list[Base]:
    """Return the bases of the server of `at` that are after this position."""
    return [
        record
        for record in records
        if isinstance(record, Base) and record.position.server == at.server and record.position > at
    ]


def enter(version: Version, schemas: FollowedTables) -> None:
    """Add the definition in a version to `schemas`."""
    if version.table.table:
        schemas.put(version.table, version.known)
    else:
        schemas.put_database(
            version.table.database, version.known if isinstance(version.known, str) else None
        )


def _in_order(records: Iterable[Version | Base]) -> list[Version]:
    return sorted((record for record in records if isinstance(record, Version)), key=_order)


def _holding(
    versions: Iterable[Version], begun: HistoryPosition, at: HistoryPosition
) -> Iterator[Version]:
    return (
        each
        for each in versions
        if (each.position == begun if each.initial else begun <= each.position < at)
    )


def _order(version: Version) -> tuple[HistoryPosition, bool]:
    return version.position, not version.initial

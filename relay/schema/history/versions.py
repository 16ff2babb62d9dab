"""The records of the history: the versions of a table from a position on, and the positions with
a full description.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson

from relay.model.table import TableId
from relay.schema.history.described import DescribedTable
from relay.schema.history.known_tables import Known
from relay.schema.history.place import HistoryPlace
from relay.schema.history.schemas import Schemas

_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Version:
    """The definition of a table after a position, None if it was dropped. Without a table's name:
    the character set of a database.

    `initial`: it belongs to the base at that position, and is valid at the position itself.
    """

    place: HistoryPlace
    table: TableId
    known: Known | None
    initial: bool = False

    @property
    def key(self) -> bytes:
        """Return the Kafka key: a JSON array of database, table and position."""
        return orjson.dumps([self.table.database, self.table.table, *self.place])

    def to_bytes(self) -> bytes:
        """Return the Kafka value; a table that is gone is a null in it, no tombstone."""
        known = self.known.to_fields() if isinstance(self.known, DescribedTable) else self.known
        return orjson.dumps({"format": _FORMAT, "known": known, "initial": self.initial})


@dataclass(frozen=True, slots=True)
class Base:
    """A full description of all tables at this position.

    Earlier records of this server are not needed after it.
    """

    place: HistoryPlace

    @property
    def key(self) -> bytes:
        """Return the Kafka key: as that of a version, with empty names."""
        return orjson.dumps(["", "", *self.place])

    def to_bytes(self) -> bytes:
        """Return the Kafka value: only the format number, because the key has the position."""
        return orjson.dumps({"format": _FORMAT})


def parse_record(key: bytes, value: bytes) -> Version | Base:
    """Read a record. Raises ValueError, KeyError or TypeError for a value in another format."""
    database, table, *place = orjson.loads(key)
    fields: dict[str, Any] = orjson.loads(value)
    if fields["format"] != _FORMAT:
        raise ValueError(f"its format is {fields['format']}")
    if not database:
        return Base(HistoryPlace(*place))
    known = fields["known"]
    return Version(
        HistoryPlace(*place),
        TableId(database, table),
        DescribedTable.from_fields(known) if isinstance(known, dict) else known,
        fields["initial"],
    )


def folded(
    records: Iterable[Version | Base], at: HistoryPlace, schemas: Schemas
) -> list[Version] | None:
    """Add to `schemas` the definitions at a position; return the later versions, in order.

    None if no base covers the position.
    """
    ours = [record for record in records if record.place.server == at.server]
    begun = _base_of(ours, at)
    if begun is None:
        return None
    versions = _in_order(ours)
    for version in _holding(versions, begun, at):
        enter(version, schemas)
    return [version for version in versions if version.place >= at and not version.initial]


def superseded(records: Iterable[Version | Base], oldest: HistoryPlace) -> list[Version | Base]:
    """Return the records of this server that `folded` needs for no position from `oldest` on."""
    ours = [record for record in records if record.place.server == oldest.server]
    begun = _base_of(ours, oldest)
    if begun is None:
        return []
    gone = [record for record in ours if record.place < begun]
    last: dict[TableId, Version] = {}
    for version in _holding(_in_order(ours), begun, oldest):
        if version.table in last:
            gone.append(last[version.table])
        last[version.table] = version
    return [*gone, *(version for version in last.values() if version.known is None)]


def later_bases(records: Iterable[Version | Base], at: HistoryPlace) -> list[Base]:
    """Return the bases of this server after a position."""
    return [
        record
        for record in records
        if isinstance(record, Base) and record.place.server == at.server and record.place > at
    ]


def enter(version: Version, schemas: Schemas) -> None:
    """Put the columns that a version describes into `schemas`."""
    if version.table.table:
        schemas.put(version.table, version.known)
    else:
        schemas.put_database(
            version.table.database, version.known if isinstance(version.known, str) else None
        )


def _base_of(records: Iterable[Version | Base], at: HistoryPlace) -> HistoryPlace | None:
    return max(
        (record.place for record in records if isinstance(record, Base) and record.place <= at),
        default=None,
    )


def _in_order(records: Iterable[Version | Base]) -> list[Version]:
    return sorted((record for record in records if isinstance(record, Version)), key=_order)


def _holding(
    versions: Iterable[Version], begun: HistoryPlace, at: HistoryPlace
) -> Iterator[Version]:
    return (
        each
        for each in versions
        if (each.place == begun if each.initial else begun <= each.place < at)
    )


def _order(version: Version) -> tuple[HistoryPlace, bool]:
    return version.place, not version.initial

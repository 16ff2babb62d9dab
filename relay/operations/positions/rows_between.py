"""Counts the rows between two positions of a binlog, by logical table."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from relay.deadline import Deadline
from relay.decode import RowDecoder
from relay.errors import MappingRefused, RelayError
from relay.model.change import RawItem, RawRows
from relay.model.positions.position import BinlogPosition, SourcePosition
from relay.model.table import TableId
from relay.operations.instances.followed_server import FollowedPosition
from relay.operations.mappings.instance_mapping import active_mapping_set
from relay.route import Router, TableFilter
from relay.settings import InstanceSettings, RelaySettings, SourceSettings
from relay.source import binlog_items
from relay.zk import Session

READ_SECONDS: Final = 3.0
"""For this many seconds the binlog is read. A longer part is not read to its end, because a user
waits for the preview.
"""
_NAMED: Final = 8


@dataclass(frozen=True, slots=True)
class RowsBetween:
    """The rows of published tables between two positions.

    tables    logical table → number of rows, the table with the most rows first
    is_whole  whether all of the binlog between the positions was read
    """

    tables: Mapping[str, int]
    is_whole: bool

    @property
    def rows(self) -> int:
        """The number of rows of all tables."""
        return sum(self.tables.values())

    @property
    def sentence(self) -> str:
        """The number of rows and the tables, in one or two sentences."""
        if not self.tables:
            return (
                "No row of a mapped table is between the two positions."
                if self.is_whole
                else f"No row of a mapped table was found so far. {_PART}"
            )
        rows = f"{self.rows:,} {'row' if self.rows == 1 else 'rows'}"
        count = len(self.tables)
        tables = f"{count:,} logical {'table' if count == 1 else 'tables'}"
        named = [f"{name} ({number:,})" for name, number in self.tables.items()][:_NAMED]
        more = f" and {count - _NAMED:,} more" if count > _NAMED else ""
        told = f"{rows} of {tables}: {', '.join(named)}{more}."
        if self.is_whole:
            return f"Between them: {told}"
        return f"Between them: at least {told} {_PART}"


_PART: Final = f"The binlog between them could not be read to its end within {READ_SECONDS:.0f} s."


def rows_of_move(
    settings: RelaySettings,
    instance: InstanceSettings,
    session: Session,
    followed: FollowedPosition,
    origin: SourcePosition,
) -> RowsBetween | None:
    """Return how many rows are between the position `origin` and the target of a move, by logical
    table of the active mapping.

    None if the two are positions of different servers, or the mapping cannot be used. Raises
    StoreUnreachable.
    """
    target = followed.target.position
    if target.identity.server != origin.identity.server:
        return None
    try:
        router = Router(active_mapping_set(settings, session), instance.routing)
    except MappingRefused:
        return None
    table_filter = TableFilter(instance.filter)

    def logical(real: TableId) -> TableId | None:
        found = router.destination(real) if table_filter.accepts(real) else None
        return None if found is None else found.logical

    start, end = sorted((target.binlog, origin.binlog), key=lambda each: each.rank)
    return rows_between(followed.settings, start, end, logical)


def rows_between(
    settings: SourceSettings,
    start: BinlogPosition,
    end: BinlogPosition,
    logical: Callable[[TableId], TableId | None],
) -> RowsBetween:
    """Return how many rows of each table are in the binlog from `start` to `end`. Reading ends
    after READ_SECONDS seconds.

    `logical` returns the logical name of a real table, None if its rows are not published. If the
    binlog is not read up to `end`, `is_whole` of the result is False.
    """
    found: Counter[str] = Counter()
    is_whole = True
    try:
        with closing(binlog_items(settings, start, end)) as items:
            is_whole = _count(items, logical, found)
    except RelayError:
        is_whole = False
    return RowsBetween(dict(found.most_common()), is_whole)


def _count(
    items: Iterator[RawItem], logical: Callable[[TableId], TableId | None], found: Counter[str]
) -> bool:
    """Add the rows to `found`; return whether all were read in time."""
    decoder, deadline = RowDecoder(), Deadline.after(READ_SECONDS)
    for item in items:
        if isinstance(item, RawRows):
            event = decoder.open(item)
            name = logical(event.table.id)
            if name is not None:
                found[str(name)] += len(event.rows)
        if deadline.passed:
            return False
    return True

"""Pairs the events of both readers in one range of a binlog by their positions."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from relay.errors import SourceUnreachable
from relay.model.change import RowsEvent
from relay.model.positions.position import BinlogPosition
from relay.second_reader.library import LibraryEvent, library_events
from relay.second_reader.relay_events import OwnEvent, own_events
from relay.settings import SourceSettings
from relay.source import ask_server_facts, free_replica_id


class Pair(NamedTuple):
    """One event as the relay and as the library read it; None if a reader has no such event.

    If the relay has several events for one of the library, further pairs have `library` None.
    """

    own: OwnEvent | None
    library: LibraryEvent | None


@dataclass(frozen=True, slots=True)
class Stretch:
    """A range of a source's binlog, from the beginning of a transaction on.

    `name` identifies the two readers at the source.
    """

    settings: SourceSettings
    name: str
    start: BinlogPosition
    until: BinlogPosition


def pairs(stretch: Stretch, *, with_statements: bool = False) -> Generator[Pair]:
    """Yield the events of both readers in the binlog's order.

    `with_statements`: also statements, except those that the library reads from MariaDB 11.4 and
    later. Both connect as replicas with unused server_ids. Raises Unreachable, a Stop, or
    ConfigurationError for a position where no transaction begins.
    """
    # With the instance's own server_id, the source would end the connection of the instance's
    # relay.
    settings = stretch.settings.model_copy(
        update={
            "server_id": None,
            "heartbeat_seconds": min(stretch.settings.heartbeat_seconds, 0.5),
        }
    )
    server = ask_server_facts(settings)
    own = own_events(settings, f"{stretch.name}.relay", stretch.start, stretch.until)
    library = library_events(
        settings,
        free_replica_id(settings, f"{stretch.name}.library"),
        stretch.start,
        stretch.until,
        # The library cannot read the statements of MariaDB 11.4 and later, because they contain a
        # status variable that it does not know.
        with_statements=with_statements and not (server.mariadb and server.version >= (11, 4, 0)),
        with_texts=with_statements,
    )
    yield from side_by_side(own, library)


def side_by_side(own: Iterator[OwnEvent], library: Iterator[LibraryEvent]) -> Iterator[Pair]:
    """Pair the events of two readers, each in the binlog's order.

    Events without a position are paired one by one.
    """
    mine, theirs, used = next(own, None), next(library, None), False
    while mine is not None or theirs is not None:
        order = _order(mine, theirs)
        if order < 0 or theirs is None:
            yield Pair(mine, None)
            mine = next(own, None)
        elif order > 0 or mine is None:
            if not used:
                yield Pair(None, theirs)
            theirs, used = next(library, None), False
        else:
            yield Pair(mine, theirs)
            mine, used = next(own, None), True
            if not theirs.passed_over or theirs.position is None:
                theirs, used = next(library, None), False


def _order(mine: OwnEvent | None, theirs: LibraryEvent | None) -> int:
    """Return -1 where the relay's event comes first, 1 where the library's does, 0 if they are
    the same one.
    """
    if mine is None or theirs is None:
        return -1 if theirs is None else 1
    if theirs.position is not None:
        return (mine.position.rank > theirs.position.rank) - (
            mine.position.rank < theirs.position.rank
        )
    if not theirs.may_hold_rows:
        return 1
    if not isinstance(mine.content, RowsEvent):
        return -1
    if theirs.table is not None and (theirs.table, theirs.operation) != (
        mine.content.table.id,
        mine.content.operation,
    ):
        raise SourceUnreachable(
            f"At {mine.position} the relay reads {mine.content.operation} of "
            f"{mine.content.table.id}, and the library, which reports no coordinates here, "
            f"{theirs.operation} of {theirs.table}: their events cannot be matched.",
            remedy="Choose a later start; report a bug if the error remains.",
        )
    return 0

"""What a session reads: one source, or those of a group."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from relay.model.position_record import PositionRecord
from relay.pipeline.outbox import Outbox
from relay.pipeline.published_places import PublishedPlaces
from relay.pipeline.reader import ItemStream
from relay.pipeline.table_names import TableNames
from relay.schema import CatalogReader


class ReadingThreads(Protocol):
    """Whoever fills the buffer of a session."""

    def start(self) -> None: ...

    def stop(self) -> None:
        """End, and wait for the threads."""


@dataclass(frozen=True, slots=True)
class OpenSource:
    """A source with its catalogue; `names` completes table maps that carry none, `places` notes what identifies places elsewhere."""

    stream: ItemStream
    catalog: CatalogReader
    names: TableNames | None
    places: PublishedPlaces | None = None

    @property
    def begun(self) -> bool:
        """Whether all its tables were described anew."""
        return self.names is not None and self.names.begun


@dataclass(frozen=True, slots=True)
class OpenSources:
    """The sources that are read, by name (a single one is called ""), and the `record` that reading goes on from.

    `fresh`: it says what no committed record does, and is committed before the first row. `reader` makes the reading threads, `check`
    raises when others are to be read.
    """

    record: PositionRecord
    fresh: bool
    by_name: Mapping[str, OpenSource]
    reader: Callable[[Outbox], ReadingThreads]
    check: Callable[[], None]

    @property
    def places(self) -> PublishedPlaces | None:
        """What identifies the places of a single source; a group has no standby."""
        single = self.by_name.get("")
        return None if single is None else single.places

"""What a session reads: one source, or those of a group."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from relay.model.records.position_record import PositionRecord
from relay.pipeline.delivery.outbox import Outbox
from relay.pipeline.ingest.position_digests import PublishedPlaces
from relay.pipeline.ingest.reader import ItemStream
from relay.pipeline.ingest.schema_history import TableNames
from relay.pipeline.rollback_memory import RolledBack
from relay.schema import CatalogReader
from relay.settings import SourceSettings


class ReadingThreads(Protocol):
    """Whoever fills the buffer of a session."""

    def start(self) -> None:
        """Start to fill the buffer; return at once."""

    def stop(self) -> None:
        """End, and wait for the threads."""


@dataclass(frozen=True, slots=True)
class OpenSource:
    """A source with its catalogue.

    `names` completes table maps that carry none, `places` notes what identifies places elsewhere.
    """

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
    """The sources that are read, by name (a single one is called ""), and the `record` that reading
    goes on from.

    `servers` answer for them, and `rolled_back` is what is known of each beyond this session.
    `fresh`: it says what no committed record does, and is committed before the first row. `reader`
    makes the reading threads, `check` raises when others are to be read.
    """

    record: PositionRecord
    fresh: bool
    by_name: Mapping[str, OpenSource]
    servers: Mapping[str, SourceSettings]
    rolled_back: Mapping[str, RolledBack]
    reader: Callable[[Outbox], ReadingThreads]
    check: Callable[[], None]

    @property
    def places(self) -> PublishedPlaces | None:
        """What identifies the places of a single source; a group has no standby."""
        single = self.by_name.get("")
        return None if single is None else single.places

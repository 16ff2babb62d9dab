"""The sources of a run: one, or those of a group."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from relay.model.records.position_record import PositionRecord
from relay.pipeline.delivery.outbox import Outbox
from relay.pipeline.ingest.names.schema_history import TableNames
from relay.pipeline.ingest.position_digests import FingerprintRecorder
from relay.pipeline.ingest.reader import ItemStream
from relay.pipeline.rollback_memory import RolledBack
from relay.schema import CatalogReader
from relay.settings import SourceSettings
from relay.source import NEVER_PURGED, SourceStream, kept_seconds


class ReadingThreads(Protocol):
    """The threads that fill the buffer of a run."""

    def start(self) -> None:
        """Start to fill the buffer; return at once."""

    def stop(self) -> None:
        """End the threads, and wait for them."""


@dataclass(frozen=True, slots=True)
class OpenSource:
    """A source with its catalogue.

    `names` completes table maps that carry none, `fingerprints` records digests that identify
    positions on other servers.
    """

    stream: ItemStream
    catalog: CatalogReader
    names: TableNames | None
    fingerprints: FingerprintRecorder | None = None

    @property
    def begun(self) -> bool:
        """Whether all tables of the source were described again."""
        return self.names is not None and self.names.begun


@dataclass(frozen=True, slots=True)
class OpenSources:
    """The sources that are read, by name (a single one is named ""), and the `record` that
    reading continues from. `servers` are their servers, and `rolled_back` are the rolled-back
    rows known from earlier sessions. `fresh`: the record differs from the committed one, and is
    committed before the first row. `reader` creates the reading threads, `check` raises when
    other sources should be read.
    """

    record: PositionRecord
    fresh: bool
    by_name: Mapping[str, OpenSource]
    servers: Mapping[str, SourceSettings]
    rolled_back: Mapping[str, RolledBack]
    reader: Callable[[Outbox], ReadingThreads]
    check: Callable[[], None]

    @property
    def binlog_kept_s(self) -> int | None:
        """How many seconds the sources keep a binlog file at least: the shortest of those that
        purge, 0 if none does; None if no server was asked.
        """
        streams = (each.stream for each in self.by_name.values())
        known = [
            kept
            for each in streams
            if isinstance(each, SourceStream)
            and (kept := kept_seconds(each.server.variables)) is not None
        ]
        return min(filter(None, known), default=NEVER_PURGED) if known else None

    @property
    def fingerprints(self) -> FingerprintRecorder | None:
        """The recorder of positions of a single source; a group has no standby."""
        single = self.by_name.get("")
        return None if single is None else single.fingerprints

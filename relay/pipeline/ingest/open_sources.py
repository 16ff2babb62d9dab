"""Holds the open sources of a run: the only source, or all sources of a group."""

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
    """The threads that fill the buffer of a run; Reader and GroupReader implement it."""

    def start(self) -> None:
        """Start the threads and return at once."""

    def stop(self) -> None:
        """Ask the threads to end, and wait until they have ended."""


@dataclass(frozen=True, slots=True)
class OpenSource:
    """A source whose stream is open.

    stream        its items
    catalog       reads definitions of its tables
    names         adds column names to table maps; None: the binlog has the names
    fingerprints  computes digests that identify positions on other servers; None: no switch needs
                  them
    """

    stream: ItemStream
    catalog: CatalogReader
    names: TableNames | None
    fingerprints: FingerprintRecorder | None = None

    @property
    def begun(self) -> bool:
        """Return whether the schema history of the source was begun again from its catalogue,
        because no stored one could be used.
        """
        return self.names is not None and self.names.begun


@dataclass(frozen=True, slots=True)
class OpenSources:
    """The sources of a run, and what reading them needs. All mappings are by source name, "" for a
    single source.

    record       the record from which reading continues
    fresh        whether `record` differs from the committed one and must be committed first
    by_name      the open sources
    servers      the server of each source
    rolled_back  the rolled-back rows of each source that are known from earlier runs
    reader       makes the reading threads
    check        raises an error if other servers or sources must be read
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
        """The shortest time in seconds for which the sources keep a binlog file.

        0 if none of them purges files, None if their retention is not known.
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
        """The recorder of digests of a single source; None for a group, which has no switch by
        digests.
        """
        single = self.by_name.get("")
        return None if single is None else single.fingerprints

"""Opens the sources of a run with their catalogues and schema histories."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import partial
from time import time

from relay.errors import HistoryChanged, SwitchingSource
from relay.model.positions.position import OrderPair, SourcePosition
from relay.model.records.position_record import OtherSource, PositionRecord
from relay.pipeline.buffer import ChangeBuffer
from relay.pipeline.delivery.outbox import Outbox
from relay.pipeline.failover.group_failover import GroupFailover
from relay.pipeline.failover.source_failover import SourceFailover
from relay.pipeline.ingest.group_sources import OpenedSource
from relay.pipeline.ingest.names.schema_history import TableNames, open_names
from relay.pipeline.ingest.open_source import open_for
from relay.pipeline.ingest.open_sources import OpenSource, OpenSources
from relay.pipeline.ingest.reader import ItemStream, Reader
from relay.pipeline.ingest.source_choice import SourceChoice
from relay.pipeline.interruptible import answered
from relay.pipeline.supervision.instance_context import InstanceMemory
from relay.position import SCHEMA, RecordTopic
from relay.schema import CatalogReader
from relay.settings import InstanceSettings, RelaySettings, SourceSettings
from relay.source import ExcludedRange, ServerFacts, SourceStream, ask_server_facts


class SourceOpener:
    """Opens the source, or the sources of the group, for one run. `buffer` receives their items."""

    def __init__(
        self,
        settings: RelaySettings,
        instance: InstanceSettings,
        memory: InstanceMemory,
        buffer: ChangeBuffer,
    ) -> None:
        self._settings = settings
        self._instance = instance
        self._failover = memory.failover
        self._spooling = memory.spooling
        self._rolled_back = memory.rolled_back
        self._tables_to_refresh = memory.tables_to_refresh
        self._buffer = buffer

    def open(
        self, chosen: SourceChoice, stop: threading.Event
    ) -> AbstractContextManager[OpenSources]:
        """Context manager: open the sources. Raises the errors that prevent reading, and
        AskedToStop.
        """
        if isinstance(self._failover, GroupFailover):
            return self._open_group(self._failover, chosen, stop)
        return self._open_one(self._failover, chosen, stop)

    @contextmanager
    def _open_one(
        self, failover: SourceFailover, chosen: SourceChoice, stop: threading.Event
    ) -> Iterator[OpenSources]:
        self._rolled_back.continue_in(chosen.epoch, switches=bool(chosen.switches))
        with (
            closing(CatalogReader(chosen.server)) as catalog,
            closing(
                answered(lambda: self._open_source(failover, chosen), stop, "Opening the source")
            ) as stream,
        ):
            # The items on disk were read by another connection.
            server = (
                stream.server
                if isinstance(stream, SourceStream)
                else ask_server_facts(chosen.server)
            )
            record = chosen.record or _first_record(stream.start)

            def described() -> TableNames | None:
                return self._open_names(
                    "", chosen.server, stream.start, server, catalog, record.names
                )

            places = failover.fingerprints(stream.start, chosen.record)
            servers, rolled_back = {"": chosen.server}, {"": self._rolled_back}
            source = OpenSource(
                stream, catalog, answered(described, stop, "Describing the source's tables"), places
            )
            fresh = chosen.record is None or source.begun
            reader = partial(self._reader, source)
            yield OpenSources(
                record, fresh, {"": source}, servers, rolled_back, reader, failover.check
            )

    @contextmanager
    def _open_group(
        self, failover: GroupFailover, chosen: SourceChoice, stop: threading.Event
    ) -> Iterator[OpenSources]:
        known = failover.group
        with ExitStack() as stack:
            opening = known.open(chosen, self._open_member)
            sources = answered(lambda: stack.enter_context(opening), stop, "Opening the sources")
            record = known.start_record(chosen.record, sources, _first_record)
            new = sources.keys() - known.standing(chosen.record).keys()
            check_passed = stack.enter_context(
                known.waiting_for_passed(chosen, record, failover.refusal)
            )
            fresh = bool(new) or any(source.begun for source in sources.values())

            def check() -> None:
                check_passed()
                failover.check()

            yield OpenSources(
                record,
                fresh,
                sources,
                chosen.servers,
                known.rolled_back,
                lambda _: known.reader(sources, record, self._buffer),
                check,
            )

    def _open_member(
        self,
        name: str,
        settings: SourceSettings,
        at: OtherSource | None,
        excluded: Iterable[ExcludedRange],
    ) -> OpenedSource:
        with ExitStack() as stack:
            resume = None if at is None else at.source
            stream = stack.enter_context(
                closing(
                    open_for(
                        self._settings.installation, self._instance, settings, resume, excluded
                    )
                )
            )
            catalog = stack.enter_context(closing(CatalogReader(settings)))
            names = self._open_names(
                name,
                settings,
                stream.start,
                stream.server,
                catalog,
                None if at is None else at.names,
            )
            stack.pop_all()
        return OpenedSource(stream, catalog, names)

    def _reader(self, source: OpenSource, outbox: Outbox) -> Reader:
        spooling = self._spooling
        poll = (lambda: spooling.poll(outbox.unanswered_seconds)) if spooling.enabled else None
        return Reader(
            self._instance.name,
            source.stream,
            self._buffer,
            spooling.begin,
            poll,
            source.names,
            source.fingerprints,
        )

    def _open_source(self, failover: SourceFailover, chosen: SourceChoice) -> ItemStream:
        try:
            return self._open_chosen(chosen)
        except HistoryChanged as exc:
            if chosen.record is not None and failover.another_came(chosen.record):
                raise SwitchingSource("Another server has the source's address now.") from exc
            raise

    def _open_chosen(self, chosen: SourceChoice) -> ItemStream:
        resume = None if chosen.record is None else chosen.record.source
        if (
            resume is not None
            and (spooled := self._spooling.stream(chosen.server, resume)) is not None
        ):
            return spooled
        return open_for(
            self._settings.installation,
            self._instance,
            chosen.server,
            resume,
            self._rolled_back.ranges,
        )

    def _open_names(
        self,
        name: str,
        settings: SourceSettings,
        start: SourcePosition,
        server: ServerFacts,
        catalog: CatalogReader,
        followed: SourcePosition | None,
    ) -> TableNames | None:
        return open_names(
            self.kept(SCHEMA, name),
            settings,
            start,
            server,
            catalog,
            followed,
            self._tables_to_refresh.of_source(name),
        )

    def kept(self, purpose: str, source: str) -> RecordTopic:
        """Return the store of a source's own records for `purpose`; each source of a group has a
        separate topic.
        """
        purpose = f"{purpose}-{source}" if source else purpose
        return RecordTopic(
            self._settings.kafka, self._settings.installation, purpose, self._instance.name
        )


def _first_record(start: SourcePosition) -> PositionRecord:
    """The record of an instance that never published."""
    return PositionRecord(start, OrderPair(0, 0), epoch=0, change_time_ms=int(time() * 1000))

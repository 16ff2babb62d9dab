"""Chooses the servers of a group of sources. For each source, it checks the servers, reads
operators' orders, and proves switches; all sources share one position record.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace

from relay.errors import (
    RelayError,
    SourceUnreachable,
    StandbyBehind,
    SwitchingSource,
    SwitchRefused,
)
from relay.model.records.position_record import PositionRecord
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.failover.server_news import wait_for_news
from relay.pipeline.failover.source_failover import SourceFailover
from relay.pipeline.ingest.group_merger import of_source
from relay.pipeline.ingest.group_record import record_of, with_switched
from relay.pipeline.ingest.group_sources import SourceGroup
from relay.pipeline.ingest.source_choice import SourceChoice
from relay.settings import InstanceSettings, SourceSettings
from relay.state import FailoverStore, SwitchNote


class GroupFailover:
    """Chooses a server for each source of a group, and interrupts the streams if one source must be
    read from another server.

    A switch of one source writes a new position record for all sources. The record raises the
    epoch, which all sources share. The other sources continue at their positions.
    """

    def __init__(self, group: SourceGroup, sources: Mapping[str, SourceFailover]) -> None:
        self.group = group
        self._sources = sources
        self._managed = {name: each for name, each in self._sources.items() if each.managed}

    @classmethod
    def of(
        cls,
        instance: InstanceSettings,
        group: SourceGroup,
        store: FailoverStore,
        stats: InstanceStats,
    ) -> "GroupFailover":
        """Return the failover of a group, with a SourceFailover for each source in the order of the
        settings.
        """

        def one(name: str, settings: SourceSettings) -> SourceFailover:
            return SourceFailover(
                instance,
                settings,
                store.of_source(name),
                lambda: record_of(stats.record, name),
                name,
            )

        return cls(group, {name: one(name, settings) for name, settings in group.members.items()})

    def watching(self) -> AbstractContextManager[None]:
        """Context manager: check the servers and watch the orders of all sources."""
        return _all_of(each.watching() for each in self._managed.values())

    def streaming(self) -> AbstractContextManager[None]:
        """Context manager while rows are streamed: `check` then reports that a source must be read
        from another server.
        """
        return _all_of(each.streaming() for each in self._managed.values())

    def check(self) -> None:
        """Raise SwitchingSource if a source must be read from another server."""
        for name, each in self._managed.items():
            try:
                each.check()
            except SwitchingSource as exc:
                exc.reason = of_source(name, exc)
                raise

    def wait_for_news(self, stop: threading.Event, seconds: float) -> bool:
        """Wait up to `seconds` seconds; return True if a server or an operator's order changed
        since the last choice, or if `stop` is set.
        """
        return wait_for_news(self._managed.values(), stop, seconds)

    def choose(self, record: PositionRecord | None) -> SourceChoice:
        """Return the servers to read from and the record to continue from.

        `record` is the committed position record; None: the instance never published. Raises the
        error that prevents reading a source, unless the settings allow the other sources to
        continue without it.
        """
        if record is not None:
            # The record of a single source becomes the record of the group's first source.
            record = replace(record, following=record.following or next(iter(self._sources)))
        # An error of one source ends the choice before the sources after it. Their old news must
        # not cause the next choice at once.
        for each in self._managed.values():
            each.forget_news()
        chosen = SourceChoice({}, record)
        for name, each in self._sources.items():
            chosen = self._chosen_too(chosen, name, each)
        return chosen

    def switched(self, note: SwitchNote) -> None:
        """Report the switch of a source. Call it after the position record on the source's new
        server is committed.
        """
        self._sources[note.source].switched(note)

    def refusal(self, name: str) -> RelayError | None:
        """Return why the source `name` is not switched to the server that the decision wants.

        None if no switch is wanted or nothing prevents it.
        """
        return self._sources[name].refusal

    def _chosen_too(self, chosen: SourceChoice, name: str, source: SourceFailover) -> SourceChoice:
        """Return the choice so far, with the choice for one more source."""
        try:
            one = source.choose(record_of(chosen.record, name))
        except RelayError as exc:
            exc.reason = of_source(name, exc)
            unfit = isinstance(exc, SourceUnreachable | StandbyBehind | SwitchRefused)
            # If the present server answers, the other one soon has the missing transactions, or the
            # relay continues to read the present one.
            if not unfit or source.serves or not self.group.passes(name, chosen.record):
                raise
            servers = {**chosen.servers, name: source.followed}
            return replace(chosen, servers=servers, passed={**chosen.passed, name: exc})
        record = chosen.record
        if record is not None and one.record is not None and one.switches:
            record = with_switched(record, name, one.record)
        return replace(
            chosen,
            servers={**chosen.servers, **one.servers},
            record=record,
            switches=chosen.switches + one.switches,
        )


@contextmanager
def _all_of(contexts: Iterable[AbstractContextManager[None]]) -> Iterator[None]:
    with ExitStack() as stack:
        for each in contexts:
            stack.enter_context(each)
        yield

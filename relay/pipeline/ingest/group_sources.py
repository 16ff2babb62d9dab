"""Opens the sources of a group, and decides which of them are skipped for now."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import structlog

from relay.errors import BatchAborted, RelayError, SourceUnreachable
from relay.merge import MergeOrder, by_column, by_execute_time
from relay.model.positions.position import SourcePosition
from relay.model.records.position_record import OtherSource, PositionRecord
from relay.pipeline.buffer import ChangeBuffer
from relay.pipeline.ingest.group_merger import GroupReader, MergeTimes, of_source
from relay.pipeline.ingest.group_rules import refuse_another_name, refuse_one_twice, tells_commits
from relay.pipeline.ingest.open_sources import OpenSource
from relay.pipeline.ingest.source_choice import SourceChoice
from relay.pipeline.rollback_memory import RolledBack
from relay.settings import GroupSettings, InstanceSettings, SourceSettings
from relay.source import ExcludedRange, SourceStream, check_start
from relay.steady_clock import SteadyClock
from relay.threads import Guard, RelayThread

_POLL_SECONDS: Final = 1.0
"""A source that is passed over is asked so often whether it is back."""
OpenedAt: TypeAlias = (
    "Callable[[str, SourceSettings, OtherSource | None, list[ExcludedRange]], OpenedSource]"
)
"""Name, settings, position (None: none) and rolled-back ranges → the open source."""
_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class OpenedSource(OpenSource):
    """A source of a group whose stream is open."""

    stream: SourceStream

    def close(self) -> None:
        """Close the stream and the connection to the catalogue."""
        self.stream.close()
        self.catalog.close()


class SourceGroup:
    """Opens the sources of a group, and holds their state between runs.

    The instance's thread writes it, others read it. `passed` are the skipped sources with the error
    of each. `rolled_back` are the known rolled-back rows of each source.
    """

    def __init__(self, instance: InstanceSettings, group: GroupSettings) -> None:
        self.passed: dict[str, RelayError] = {}
        self.members = group.members(instance.source)
        self._instance = instance
        self._group = group
        self.rolled_back = {name: RolledBack() for name in self.members}
        self._order: MergeOrder | None = None
        self._late_before = 0

    @property
    def words(self) -> str:
        """A sentence about skipped sources; "" if there are none."""
        return " ".join(
            f"Source {name} is not read at present: {error.code}."
            for name, error in self.passed.items()
        )

    @property
    def late(self) -> int:
        """The number of transactions that arrived only after a transaction with a later time had
        been merged.
        """
        return self._late_before + (0 if self._order is None else self._order.late)

    @contextmanager
    def open(self, chosen: SourceChoice, opened: OpenedAt) -> Iterator[Mapping[str, OpenedSource]]:
        """Context manager: open all sources.

        A source that does not answer is skipped if the settings allow that and its position is
        known. `opened` opens one source. Raises the errors that prevent reading, HistoryChanged for
        a renamed source, and SourceSettingsRefused if two are one server.
        """
        known = self.standing(chosen.record)
        sources: dict[str, OpenedSource] = {}
        self.passed = {}
        with ExitStack() as stack:
            for name in chosen.servers:
                try:
                    sources[name] = self._open(name, chosen, known.get(name), opened)
                except RelayError as exc:
                    self._pass_over(name, exc, chosen)
                    continue
                stack.callback(sources[name].close)
            if not sources:
                raise next(iter(self.passed.values()))
            refuse_one_twice(sources)
            refuse_another_name(sources, known)
            yield sources

    def start_record(
        self,
        record: PositionRecord | None,
        sources: Mapping[str, OpenSource],
        first: Callable[[SourcePosition], PositionRecord],
    ) -> PositionRecord:
        """Return the record with a position for every source.

        record   the committed record; None: the instance never published
        sources  the open sources; one without a position in `record` begins where it was opened
        first    makes the record of an instance that never published

        The position of a source that the settings no longer have is dropped, and logged.
        """
        known = self.standing(record)
        standing = {
            name: known.get(name) or OtherSource(source.stream.start)
            for name, source in sources.items()
        }
        standing |= {name: at for name, at in known.items() if name in self.passed}
        for name in known.keys() - standing.keys():
            _log.warning(
                "source_forgotten",
                instance=self._instance.name,
                source=name,
                position=str(known[name].source.binlog),
            )
        following = (
            record.following
            if record is not None and record.following in standing
            else next(iter(standing))
        )
        at = standing.pop(following)
        return replace(
            record or first(at.source),
            source=at.source,
            names=at.names,
            skips=at.skips,
            following=following,
            others=standing,
        )

    def passes(self, name: str, record: PositionRecord | None) -> bool:
        """Return whether the other sources may continue without the source `name`.

        The settings must allow it, its position must be known, and no transaction of it may be half
        published.
        """
        half = (
            record is not None
            and record.split is not None
            and (record.following or self._group.name) == name
        )
        return self._group.when_source_dies == "pass" and name in self.standing(record) and not half

    def standing(self, record: PositionRecord | None) -> dict[str, OtherSource]:
        """Return the position of each source in a record; {} without a record.

        The record of a single source has its position under the name `group.name` of the settings.
        """
        if record is None:
            return {}
        return {name or self._group.name: at for name, at in record.standing.items()}

    def reader(
        self, sources: Mapping[str, OpenedSource], record: PositionRecord, buffer: ChangeBuffer
    ) -> GroupReader:
        """Return an object that reads the sources into the buffer in threads; `record` has the
        positions.
        """
        by, settings = self._group.merge_by, self._instance
        by_commit = by == "execute_time"
        times = MergeTimes(
            by_execute_time if by_commit else by_column(by.removeprefix("column:")),
            int(self._group.merge_slack_seconds * 1000),
            int(settings.transaction.max_clock_skew_seconds * 1000),
            SteadyClock().now_ms,
            frozenset(
                name
                for name, source in sources.items()
                if not by_commit or not tells_commits(source.stream.server)
            ),
        )
        self._late_before = self.late
        self._order = MergeOrder(sources, record.following if record.split is not None else None)
        return GroupReader(
            settings.name,
            sources,
            buffer,
            settings.buffer,
            self._order,
            times,
            lambda name, exc: self.rolled_back[name].leave_out(exc.ranges),
        )

    @contextmanager
    def waiting_for_passed(
        self,
        chosen: SourceChoice,
        record: PositionRecord,
        refusal: Callable[[str], RelayError | None],
    ) -> Iterator[Callable[[], None]]:
        """Context manager: check whether skipped sources answer again.

        chosen   the servers of the sources
        record   the record with the positions of the sources
        refusal  returns why the standby of a source cannot replace it; None: no reason

        The context manager's value is a function that raises BatchAborted if a skipped source
        answers again.
        """
        ended, back = threading.Event(), list[str]()
        for name in self.passed:

            def ask(name: str = name, position: SourcePosition = record.positions[name]) -> None:
                check_start(chosen.servers[name], position, self._instance.start)

            asking = (name, ask, refusal, self.passed, ended, back)
            RelayThread("back", name, self._await, *asking).start()

        def check() -> None:
            if back:
                raise BatchAborted(
                    f"Source {back[0]} answers again, and is read again from now on."
                )

        try:
            yield check
        finally:
            ended.set()

    def _open(
        self, name: str, chosen: SourceChoice, at: OtherSource | None, opened: OpenedAt
    ) -> OpenedSource:
        if name in chosen.passed:
            raise chosen.passed[name]
        self.rolled_back[name].continue_in(chosen.epoch, switches=name in chosen.switched)
        try:
            return opened(name, chosen.servers[name], at, self.rolled_back[name].ranges)
        except RelayError as exc:
            exc.reason = of_source(name, exc)
            raise

    def _pass_over(self, name: str, error: RelayError, chosen: SourceChoice) -> None:
        """Skip a source, or raise the error if it may not be skipped.

        A server that just proved itself and then failed is chosen again.
        """
        if name not in chosen.passed:
            silent = isinstance(error, SourceUnreachable)
            if not silent or name in chosen.switched or not self.passes(name, chosen.record):
                raise error
        self.passed[name] = error
        _log.warning(
            "source_passed_over", instance=self._instance.name, source=name, reason=error.reason
        )

    def _await(
        self,
        name: str,
        ask: Callable[[], None],
        refusal: Callable[[str], RelayError | None],
        passed: dict[str, RelayError],
        ended: threading.Event,
        back: list[str],
    ) -> None:
        guard = Guard("back", name)
        while not ended.wait(max(_POLL_SECONDS, guard.pause_s)):
            with guard:
                try:
                    ask()
                except SourceUnreachable as exc:
                    passed[name] = (
                        refusal(name) or exc
                    )  # of the run that began this; the next one has a dictionary of its own
                    continue
                except RelayError as exc:
                    _log.warning(
                        "returned_source_refused",
                        instance=self._instance.name,
                        source=name,
                        reason=exc.reason,
                    )
                back.append(name)
                return

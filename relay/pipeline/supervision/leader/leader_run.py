"""One run of a leader: publishes from the committed position on, until the run must end."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial

import structlog

from relay.errors import AskedToStop, BatchAborted, RelayError
from relay.lookups import SourceLookups
from relay.model.records.position_record import PositionRecord
from relay.pipeline.buffer import ChangeBuffer
from relay.pipeline.delivery.new_producer import fenced_record, new_producer
from relay.pipeline.delivery.outbox import Outbox
from relay.pipeline.delivery.topic_monitor import watched
from relay.pipeline.ingest.open_sources import OpenSources
from relay.pipeline.interruptible import answered
from relay.pipeline.publishing.publish_loop import PublishLoop
from relay.pipeline.publishing.publisher import Publisher
from relay.pipeline.publishing.visible_lookups import wait_for_lookups
from relay.pipeline.supervision.instance_context import InstanceContext, InstanceMemory
from relay.pipeline.supervision.leader.committed_record import committed_record
from relay.pipeline.supervision.leader.graceful_stop import drain_to_transaction_end
from relay.pipeline.supervision.leader.publisher_factory import PublisherFactory
from relay.pipeline.supervision.leader.source_opener import SourceOpener
from relay.position import KafkaPositionStore
from relay.refine import Refinements
from relay.source import Visibility

_log = structlog.stdlib.get_logger(__name__)


class LeaderRun:
    """Opens producer, position record and source in this order, publishes, and aborts the open
    batch at its end.

    After the end, `open_seconds` is how long the aborted batch had been open.
    """

    def __init__(self, context: InstanceContext, memory: InstanceMemory) -> None:
        settings, instance = context.settings, context.instance
        self.buffer = ChangeBuffer(
            instance.buffer, memory.spooling.overdue if memory.spooling.enabled else None
        )
        self.producer = new_producer(settings.installation, memory.sizes.new_client(), instance)
        self.open_seconds = 0.0
        self._settings = settings
        self._instance = instance
        self._mapping = context.mapping
        self._notes = context.notes
        self._stats = context.stats
        self._call = context.call
        self._store = KafkaPositionStore(settings.kafka, settings.installation, instance.name)
        self._failover = memory.failover
        self._spooling = memory.spooling
        self._loop = PublishLoop(
            instance, context.election, context.flow, context.call, self.buffer
        )
        self._opener = SourceOpener(settings, instance, memory, self.buffer)
        self._publishers = PublisherFactory(
            context, memory, self._store, self._opener, self._loop.interrupted
        )

    def run(self, stop: threading.Event, running: Callable[[], None]) -> None:
        """Publish until `stop` is set, or until another relay should lead.

        `running` is called when everything is open, before the first row is published. Raises every
        RelayError that ends a run.
        """
        with self._own_producer():
            with self._spooling.spool_if_slow():
                saved = answered(self._open_producer, stop, "Opening the producer")
            chosen = answered(lambda: self._failover.choose(saved), stop, "Choosing the source")
            with (
                closing(SourceLookups(self._instance.lookups, chosen.server)) as lookups,
                closing(Visibility(chosen.server)) as visibility,
                self._opener.open(chosen, stop) as sources,
            ):
                self._stats.connected(sources.binlog_kept_s)
                outbox = Outbox(self.producer, self.buffer, self._stats, stop)
                topics = self._publishers.topics(saved, self.producer.expect)
                parts = self._publishers.part_guard(sources, stop)
                refinements = Refinements(self._instance, lookups.by_name)
                publisher = self._publishers.publisher(
                    sources, chosen, outbox, topics, parts, refinements
                )
                lookups.before_asking = lambda: wait_for_lookups(
                    visibility, publisher.progress.begin
                )
                running()
                with (
                    closing(publisher),
                    self._failover.streaming(),
                    watched(topics, self._settings.kafka, self._instance.name),
                ):
                    self._pump(sources, publisher, outbox, stop)

    @contextmanager
    def _own_producer(self) -> Iterator[None]:
        """Close the producer at the end, unless it owes an answer: closing would drop data that
        a pending commit needs.
        """
        owes_answer = False
        try:
            yield
        except AskedToStop:
            owes_answer = True
            raise
        finally:
            if not owes_answer:
                self.producer.close()

    def _open_producer(self) -> PositionRecord | None:
        self._call.acknowledge()
        self.producer.open()
        record = self._record()
        self._stats.published_set = None if record is None else record.mapping_set
        # Before the source is asked for anything: an instance that waits for its mapping moves no
        # position.
        self._mapping.begin(record, self._store.kept_mapping)
        return record

    def _record(self) -> PositionRecord | None:
        read = partial(committed_record, self._instance, self._store, self._notes)
        if self._instance.transaction.overlaps:  # the producer has fenced both ids
            return read()
        return fenced_record(
            self._settings.installation, self._settings.kafka, self._instance, read
        )

    def _pump(
        self, sources: OpenSources, publisher: Publisher, outbox: Outbox, stop: threading.Event
    ) -> None:
        reader = sources.reader(outbox)
        reader.start()
        ended_by, commit_unanswered = AskedToStop.code, False
        try:
            self._publish_to_the_end(publisher, stop, sources)
        except AskedToStop:
            # No call may follow an unanswered commit; the next start reads in the
            # record whether it was executed.
            commit_unanswered = True
            raise
        except RelayError as exc:
            ended_by = exc.code
            raise
        finally:
            reader.stop()
            if not commit_unanswered:
                self._abort(ended_by, stop)

    def _publish_to_the_end(
        self, publisher: Publisher, stop: threading.Event, sources: OpenSources
    ) -> None:
        """Publish until an event ends it.

        Then wait for the pending commit, because its error (a fence) has priority.
        """
        try:
            self._loop.run(publisher, stop, sources)
            drain_to_transaction_end(publisher, self.buffer)
        except AskedToStop:
            raise
        except Exception:
            publisher.checkpoint.abort()
            raise
        publisher.checkpoint.abort()

    def _abort(self, ended_by: str, stop: threading.Event) -> None:
        """Abort the open batch.

        An unanswered abort must not hide the error that ended the run, and this producer is
        discarded. A fence has priority: a fenced relay must not open the next producer under the
        same leadership.
        """
        self.open_seconds = self.producer.longest_open_seconds
        if self.open_seconds and self._instance.transaction.delivery == "exactly_once":
            self._stats.totals.aborts[ended_by] += 1
        try:
            answered(self.producer.abort, stop, "The abort")
        except (BatchAborted, AskedToStop) as exc:
            _log.warning("abort_not_answered", instance=self._instance.name, reason=exc.reason)

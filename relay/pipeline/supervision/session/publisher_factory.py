"""Makes the publisher of a session, and commits what must be visible before its first row."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from relay.audit import AuditEntry, AuditTrail
from relay.claim_check import ClaimStore
from relay.dead_letters import DeadLetterTopic
from relay.errors import StoreUnreachable
from relay.model.records.position_record import PositionRecord
from relay.pipeline.checkpoint.checkpoint import Checkpoint
from relay.pipeline.checkpoint.part_guard import GuardedSource, PartGuard
from relay.pipeline.checkpoint.position_message import PositionMessages
from relay.pipeline.checkpoint.progress import Progress
from relay.pipeline.checkpoint.skip_audit import SkipAudit
from relay.pipeline.delivery.outbox import Outbox
from relay.pipeline.delivery.topic_feeders import TopicFeeders
from relay.pipeline.delivery.topics import PublishedPartitioning, Topics
from relay.pipeline.ingest.open_sources import OpenSource, OpenSources
from relay.pipeline.ingest.source_choice import SourceChoice
from relay.pipeline.messages.configuration_digest import configuration_digest
from relay.pipeline.messages.oversized import OversizedMessages
from relay.pipeline.publishing.publisher import Publisher
from relay.pipeline.publishing.source_context import SourceContext
from relay.pipeline.publishing.xa_prepared import PreparedTransactions
from relay.pipeline.supervision.instance_context import InstanceContext, SessionMemory
from relay.pipeline.supervision.session.source_opener import SourceOpener
from relay.position import PREPARED, KafkaPositionStore
from relay.refine import Refinements, configuration_of_rows
from relay.schema import DeclaredTypes, TableDefinitions
from relay.schema.type_text import type_text
from relay.state import StartNote, SwitchNote


class PublisherFactory:
    """Makes the publisher of one session.

    Used by the instance's thread. `interrupted` returns True when reading ahead must end.
    """

    def __init__(
        self,
        context: InstanceContext,
        memory: SessionMemory,
        store: KafkaPositionStore,
        opener: SourceOpener,
        interrupted: Callable[[threading.Event], bool],
    ) -> None:
        self._settings = context.settings
        self._instance = context.instance
        self._mapping = context.mapping
        self._notes = context.notes
        self._stats = context.stats
        self._sizes = memory.sizes
        self._failover = memory.failover
        self._store = store
        self._opener = opener
        self._interrupted = interrupted

    def topics(self, saved: PositionRecord | None, in_use: Callable[[int], None]) -> Topics:
        """Return the topics of the rows; `in_use` gets the number of their partitions."""
        feeders = TopicFeeders(self._notes.topics, self._instance.name)
        return Topics(
            self._settings.kafka,
            self._instance,
            PublishedPartitioning.of(saved),
            self._sizes,
            feeders,
            in_use=in_use,
        )

    def part_guard(self, sources: OpenSources, stop: threading.Event) -> PartGuard:
        """Return what reads a large source transaction to its end before a part is published."""
        guarded = {
            name: GuardedSource.opened(sources.servers[name], each, sources.rolled_back[name])
            for name, each in sources.by_name.items()
        }
        return PartGuard(
            guarded,
            self._instance.transaction.timeout_ms / 3000,
            partial(self._interrupted, stop),
            stop,
        )

    def publisher(
        self,
        sources: OpenSources,
        chosen: SourceChoice,
        outbox: Outbox,
        topics: Topics,
        parts: PartGuard,
        refinements: Refinements,
    ) -> Publisher:
        """Return the publisher that begins at the chosen position, after the commit of what must be
        visible before its first row.
        """
        publisher = self._new_publisher(sources, outbox, topics, parts, refinements)
        if chosen.switches:
            # Before a row of the other server: what comes next must find that it is the one.
            self._audit(chosen.switches, publisher.checkpoint)
        # Whoever copies tables reads in the record by which rules their rows are published from now
        # on.
        if (
            chosen.switches
            or sources.fresh
            or publisher.progress.record.rows != sources.record.rows
        ):
            publisher.checkpoint.commit_start()
        for switch in chosen.switches:
            self._failover.switched(switch)
        self._note_start(sources.record, needed=chosen.record is None)
        self._stats.resumed(sources.record)
        return publisher

    def _audit(self, switches: Iterable[SwitchNote], checkpoint: Checkpoint) -> None:
        trail = AuditTrail(self._settings.kafka, self._settings.installation)
        trail.ensure_topic()
        for switch in switches:
            checkpoint.add_own(trail.message(_switch_entry(self._instance.name, switch)))

    def _note_start(self, record: PositionRecord, *, needed: bool) -> None:
        """Note that the instance has a past; a ZooKeeper that was wiped has forgotten it.

        Raises StoreUnreachable where it is needed.
        """
        start = record.source
        try:
            self._notes.note_start(
                self._instance.name,
                StartNote(start.binlog.file, start.binlog.offset, start.gtid_set),
            )
        except StoreUnreachable:
            if needed:
                raise

    def _new_publisher(
        self,
        sources: OpenSources,
        outbox: Outbox,
        topics: Topics,
        parts: PartGuard,
        refinements: Refinements,
    ) -> Publisher:
        record = replace(sources.record, rows=configuration_of_rows(self._instance))
        if record.split is None:
            # of a half-published transaction that an operator or a switch gave up, the set was put
            # in force
            self._mapping.renew()
            record = replace(
                record,
                mapping_set=self._mapping.name.number,
                mapping_digest=self._mapping.name.digest,
            )
        trail = AuditTrail(self._settings.kafka, self._settings.installation)
        if record.skips_some:
            trail.ensure_topic()
        progress = Progress(
            record,
            configuration_digest(self._instance),
            self._mapping.name,
            keeps_gtids=self._instance.source.gtid,
            follows_names=[
                name for name, source in sources.by_name.items() if source.names is not None
            ],
            places=sources.places,
        )
        names = {name: source.names for name, source in sources.by_name.items()}
        position = PositionMessages(self._store, self._mapping, topics, names)
        skip_audit = SkipAudit(trail, self._instance.name)
        checkpoint = Checkpoint(
            outbox, progress, position, parts, skip_audit, self._stats, self._instance.transaction
        )
        contexts = {
            name: self._source_context(name, source) for name, source in sources.by_name.items()
        }
        oversize = self._oversize(topics, checkpoint)
        return Publisher(
            self._instance,
            checkpoint,
            self._mapping,
            contexts,
            topics,
            self._stats,
            oversize,
            refinements,
        )

    def _source_context(self, name: str, source: OpenSource) -> SourceContext:
        message = self._instance.message
        as_declared, marks_history = message.value_style == "canal", message.marks_history
        return SourceContext(
            TableDefinitions(
                type_text,
                source.catalog,
                DeclaredTypes(),
                as_declared=as_declared,
                marks_history=marks_history,
            ),
            PreparedTransactions(
                self._opener.kept(PREPARED, name), self._settings.kafka.message_max_bytes // 2
            ),
        )

    def _oversize(self, topics: Topics, checkpoint: Checkpoint) -> OversizedMessages | None:
        """None where a row that does not fit stops the instance."""
        instance, installation = self._instance, self._settings.installation
        if instance.oversize == "stop":
            return None
        claims = (
            ClaimStore(instance.claims, installation, instance.name)
            if instance.oversize == "claim_check"
            else None
        )
        letters = DeadLetterTopic(self._settings.kafka, installation, instance.name)
        return OversizedMessages(checkpoint, topics, self._sizes, letters, claims, instance.message)


def _switch_entry(instance: str, switch: SwitchNote) -> AuditEntry:
    after: dict[str, object] = {"source": switch.source} if switch.source else {}
    after |= {
        "to": switch.to,
        "place": switch.place,
        "epoch": switch.epoch,
        "lost": switch.lost,
        "left_out": switch.left_out,
    }
    return AuditEntry(
        switch.accepted_by or switch.asked_by or "relay",
        "source.switched",
        instance,
        {},
        after,
        switch.reason,
    )

"""Holds what all runs of an instance share: settings, stores, and the state that is kept between
runs.
"""

import threading
from dataclasses import dataclass

from relay.errors import BinlogPurged, MessageTooLarge, PrinterFailed, RelayError
from relay.ha import Election
from relay.pipeline.active_mapping import ActiveMapping
from relay.pipeline.control_signals import ControlSignals
from relay.pipeline.delivery.flow_control import FlowControl
from relay.pipeline.delivery.instance_stats import InstanceStats
from relay.pipeline.delivery.message_size_limits import MessageSizes
from relay.pipeline.failover.group_failover import GroupFailover
from relay.pipeline.failover.source_failover import SourceFailover
from relay.pipeline.ingest.group_sources import SourceGroup
from relay.pipeline.messages.printing.bug_reports import with_report
from relay.pipeline.rollback_memory import RolledBack
from relay.pipeline.spooling.spool_controller import SpoolController
from relay.pipeline.supervision.schema_refresh import TablesToRefresh
from relay.settings import InstanceSettings, RelaySettings
from relay.state import InstanceStore, MappingStore


@dataclass(frozen=True, slots=True)
class InstanceContext:
    """The settings of an instance, and the objects that all of its runs share.

    settings  the settings of the relay
    instance  the settings of the instance
    election  elects the leader
    notes     the instance's documents in ZooKeeper
    mapping   the active mapping set
    stats     the counts for status and metrics
    call      reports operators' calls
    flow      pauses and throttles the instance
    """

    settings: RelaySettings
    instance: InstanceSettings
    election: Election
    notes: InstanceStore
    mapping: ActiveMapping
    stats: InstanceStats
    call: ControlSignals
    flow: FlowControl

    @classmethod
    def of(
        cls,
        settings: RelaySettings,
        instance: InstanceSettings,
        election: Election,
        mappings: MappingStore,
        notes: InstanceStore,
        mapping_changed: threading.Event,
    ) -> "InstanceContext":
        """Return the context of an instance that starts.

        settings         the settings of the relay
        instance         the settings of the instance
        election         elects the leader
        mappings         the store of mapping sets
        notes            the documents of instances in ZooKeeper
        mapping_changed  set when the store may have a newer mapping set
        """
        stats = InstanceStats.of(settings.status.tables)
        mapping = ActiveMapping(mappings, instance.routing, mapping_changed, instance.name, notes)
        call, flow = (
            ControlSignals(notes, instance.name),
            FlowControl(notes.flows, instance, stats.totals),
        )
        return cls(settings, instance, election, notes, mapping, stats, call, flow)


@dataclass(frozen=True, slots=True)
class InstanceMemory:
    """The state that an instance keeps from one run to the next; used by the instance's thread.

    failover           chooses the servers
    group              the sources of a group, None for a single source
    spooling           the spool
    sizes              the message sizes that topics accept
    rolled_back        the rolled-back rows that the next run leaves out
    tables_to_refresh  the tables that the next run describes again
    """

    failover: SourceFailover | GroupFailover
    group: SourceGroup | None
    spooling: SpoolController
    sizes: MessageSizes
    rolled_back: RolledBack
    tables_to_refresh: TablesToRefresh

    @classmethod
    def of(cls, context: InstanceContext) -> "InstanceMemory":
        """Return the state of an instance before its first run."""
        instance, stats, store = context.instance, context.stats, context.notes.failover
        group = SourceGroup(instance, instance.group) if instance.group is not None else None
        failover = (
            GroupFailover.of(instance, group, store, stats)
            if group is not None
            else SourceFailover(instance, instance.source, store, lambda: stats.record)
        )
        rolled_back = RolledBack()
        leads = context.election.is_confirmed
        spooling = SpoolController(
            context.settings.installation, instance, stats, rolled_back, leads
        )
        return cls(
            failover,
            group,
            spooling,
            MessageSizes(context.settings.kafka),
            rolled_back,
            TablesToRefresh(),
        )


def explained(error: RelayError, context: InstanceContext, memory: InstanceMemory) -> RelayError:
    """Return the error of a run with further facts in its reason.

    error    the error
    context  the objects that all runs of the instance share
    memory   its state that stays from run to run

    The facts are a damaged spool, the bug report, and the size limits.
    """
    match error:
        case BinlogPurged():
            return memory.spooling.explained(error)
        case PrinterFailed():
            return with_report(error, context.settings.bug_reports, context.instance.name)
        case MessageTooLarge():
            return memory.sizes.after_refusal(
                error, context.instance.oversize, context.stats.totals.commits
            )
        case _:
            return error

"""Constructs the services and stores of the admin once."""

from dataclasses import dataclass
from functools import partial
from typing import Final

from api.composition.access_parts import AccessParts
from api.composition.mapping_parts import MappingParts
from api.composition.shared import Shared
from api.errors import NoSuchThing
from api.services.audit_book import AuditBook
from api.services.backup_desk import BackupDesk
from api.services.dead_letter_lists import DeadLetterLists
from api.services.erasure_desk import ErasureDesk
from api.services.failover_desk import FailoverDesk
from api.services.instance_desk import InstanceDesk
from api.services.instance_directory import InstanceDirectory
from api.services.left_settings import LeftSettings
from api.services.peek import PeekDesk, PeekNotes
from api.services.placement_desk import PlacementDesk
from api.services.positions import PositionDesk
from api.services.preflight_desk import PreflightDesk
from api.services.repair_desk import RepairDesk
from api.services.table_topics import TableTopics
from api.services.topics import TopicDirectory
from api.services.watch import Charts, Watch
from api.services.watch.prometheus import PrometheusReader
from relay.audit import AuditTrail, DelayedTrail
from relay.dead_letters import DeadLetterTopic
from relay.errors import ConfigurationError
from relay.operations import InstanceFlow, InstanceList, Snapshots
from relay.settings import ApiSettings, RelaySettings
from relay.state import (
    ErasureTurn,
    InstanceDocumentStore,
    Membership,
    PlacementStore,
    TopicAgreementStore,
)
from relay.zk import Session

_AUDIT_ENTRIES: Final = 20_000
"""The admin shows this many of the newest entries of the audit trail."""


@dataclass(frozen=True, slots=True)
class Admin:
    """Holds the services and stores that the endpoints and pages use, one in each field."""

    settings: RelaySettings
    session: Session
    access: AccessParts
    mappings: MappingParts
    directory: InstanceDirectory
    placement: PlacementDesk
    instances: InstanceDesk
    topics: TopicDirectory
    peek: PeekDesk
    table_topics: TableTopics
    failover: FailoverDesk
    book: AuditBook
    acts: DelayedTrail
    positions: PositionDesk
    watch: Watch
    charts: Charts
    erasures: ErasureDesk
    left_settings: LeftSettings
    preflight: PreflightDesk
    backups: BackupDesk

    @property
    def letters(self) -> DeadLetterLists:
        """Return the reader of the dead letters of all instances."""
        kafka, tables = self.settings.kafka, self.peek.tables
        topic = partial(DeadLetterTopic, kafka, self.settings.installation)
        return DeadLetterLists(self.directory, topic, kafka, tables)

    @property
    def repairs(self) -> RepairDesk:
        """Return the service that previews copies, and republishes rows named in reports."""
        return RepairDesk(self.settings, self.session, self.snapshots, self.mappings.logical)

    @property
    def snapshots(self) -> Snapshots:
        """Return the service for copies of tables into their topics."""
        return Snapshots(self.settings, self.session)

    def flow(self, instance: str) -> InstanceFlow:
        """Return the pause and the rate limits of an instance. Raises NoSuchThing for an unknown
        instance.
        """
        try:
            return InstanceFlow(self.settings, instance, self.session)
        except ConfigurationError as exc:
            raise NoSuchThing(exc.reason) from exc


def compose(settings: RelaySettings, session: Session) -> Admin:
    """Return all parts of the admin.

    Raises ConfigurationError if the filter of an instance in the configuration file is invalid.
    """
    shared = Shared.of(settings, session)
    paths, instances, acts = shared.paths, shared.instances, shared.acts
    members, overrides = Membership(session, paths), PlacementStore(session, paths)
    audit = AuditTrail(settings.kafka, settings.installation)
    directory = InstanceDirectory(instances, members, InstanceList(settings, session))
    watch = Watch(session, directory, overrides, shared.defined, settings.api.lag_limit_seconds)
    maps = MappingParts.of(shared, watch)
    turn = ErasureTurn(session, paths, settings.installation)
    return Admin(
        settings=settings,
        session=session,
        access=AccessParts.of(shared),
        mappings=maps,
        directory=directory,
        placement=PlacementDesk(members, overrides, acts),
        instances=_instance_desk(shared),
        topics=TopicDirectory(maps.logical, settings.kafka),
        peek=_peek_desk(shared, maps),
        table_topics=TableTopics(maps.archive, maps.logical, settings, shared.defined),
        failover=FailoverDesk(directory, instances.failover, audit),
        book=AuditBook(audit, _AUDIT_ENTRIES),
        acts=acts,
        positions=PositionDesk(settings, session),
        watch=watch,
        charts=Charts(watch, _prometheus(settings.api)),
        erasures=ErasureDesk.of(settings, session, turn),
        left_settings=LeftSettings.of(settings, session, turn),
        preflight=PreflightDesk(settings, session),
        backups=BackupDesk(settings, session, audit, acts),
    )


def _instance_desk(shared: Shared) -> InstanceDesk:
    documents = InstanceDocumentStore(shared.session, shared.paths)
    agreements = TopicAgreementStore(shared.session, shared.paths)
    return InstanceDesk(documents, agreements, shared.settings, shared.acts)


def _peek_desk(shared: Shared, maps: MappingParts) -> PeekDesk:
    notes = PeekNotes(shared.acts)
    kafka = shared.settings.kafka
    return PeekDesk(maps.archive, shared.instances, shared.defined, kafka, notes)


def _prometheus(settings: ApiSettings) -> PrometheusReader | None:
    if settings.prometheus_url is None:
        return None
    return PrometheusReader(settings.prometheus_url, settings.prometheus_labels)

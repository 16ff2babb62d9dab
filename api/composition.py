"""The admin's parts, put together once."""

from dataclasses import dataclass
from functools import partial
from typing import Final

from api.access import Gate
from api.access.exposure import reads_need_a_caller
from api.access.login import LoginDesk, LoginThrottle, Sessions
from api.access.login.attempt_notes import AttemptNotes
from api.access.login.first_admin import FirstAdminLink
from api.access.provider import ProviderClient, ProviderDesk
from api.access.trusted_header import TrustedHeader
from api.errors import NoSuchThing
from api.services.accounts import AccountDesk
from api.services.audit_book import AuditBook
from api.services.backup_desk import BackupDesk
from api.services.dead_letter_lists import DeadLetterLists
from api.services.erasure_desk import ErasureDesk
from api.services.failover_desk import FailoverDesk
from api.services.instance_desk import InstanceDesk
from api.services.instance_directory import InstanceDirectory
from api.services.left_settings import LeftSettings
from api.services.mappings.effects.edit_effects import EditEffects
from api.services.mappings.hidden_tables import HiddenTables
from api.services.mappings.logical_view import LogicalViews
from api.services.mappings.mapping_archive import MappingArchive
from api.services.mappings.mapping_editor import MappingEditor
from api.services.mappings.route_finder import RouteFinder
from api.services.mappings.routing_views import routing_views
from api.services.mappings.table_route import TableRoute
from api.services.mappings.unmapped import UnmappedTables
from api.services.peek import PeekDesk, PeekNotes
from api.services.placement_desk import PlacementDesk
from api.services.position_desk import PositionDesk
from api.services.preflight_desk import PreflightDesk
from api.services.repair_desk import RepairDesk
from api.services.subscriptions import SubscriptionDirectory
from api.services.topics import TopicDirectory
from api.services.watch import Charts, Watch
from api.services.watch.prometheus import PrometheusReader
from relay.audit import AuditTrail, DelayedTrail
from relay.dead_letters import DeadLetterTopic
from relay.errors import ConfigurationError
from relay.model.accounts import Accounts
from relay.operations import (
    AccountEditor,
    EarlyReturns,
    InstanceFlow,
    InstanceList,
    Snapshots,
    defined_instances,
    highest_recorded_set,
)
from relay.settings import ApiSettings, RelaySettings
from relay.state import (
    AccountStore,
    ErasureTurn,
    HiddenTableStore,
    InstanceDocumentStore,
    InstanceStore,
    LoginSessionStore,
    MappingStore,
    Membership,
    Paths,
    PlacementStore,
    TopicAgreementStore,
)
from relay.zk import Session

_AUDIT_ENTRIES: Final = 20_000
"""The admin shows this many of the newest entries of the audit trail."""


@dataclass(frozen=True, slots=True)
class Admin:
    """Everything that an address may use."""

    session: Session
    gate: Gate
    login: LoginDesk
    provider: ProviderDesk | None
    trusted_header: TrustedHeader | None
    accounts: AccountDesk
    first_admin: FirstAdminLink
    archive: MappingArchive
    editor: MappingEditor
    logical: LogicalViews
    finder: RouteFinder
    unmapped: UnmappedTables
    hidden: HiddenTables
    directory: InstanceDirectory
    placement: PlacementDesk
    instances: InstanceDesk
    route: TableRoute
    topics: TopicDirectory
    peek: PeekDesk
    subscriptions: SubscriptionDirectory
    failover: FailoverDesk
    audit: AuditTrail
    book: AuditBook
    acts: DelayedTrail
    positions: PositionDesk
    settings: RelaySettings
    watch: Watch
    charts: Charts
    erasures: ErasureDesk
    left_settings: LeftSettings
    preflight: PreflightDesk
    backups: BackupDesk

    def dead_letters(self, instance: str) -> DeadLetterTopic:
        """Return the dead letters of an instance. Raises NodeMissing."""
        self.directory.instance(instance)
        return DeadLetterTopic(self.settings.kafka, self.settings.installation, instance)

    @property
    def letters(self) -> DeadLetterLists:
        """Return the lists of dead letters."""
        return DeadLetterLists(self.directory, self.dead_letters)

    @property
    def repairs(self) -> RepairDesk:
        """Return the repairs of rows."""
        return RepairDesk(self.settings, self.session, self.snapshots)

    @property
    def snapshots(self) -> Snapshots:
        """Return the requests to copy tables."""
        return Snapshots(self.settings, self.session)

    def flow(self, instance: str) -> InstanceFlow:
        """Return the wanted flow of an instance. Raises NoSuchThing."""
        try:
            return InstanceFlow(self.settings, instance, self.session)
        except ConfigurationError as exc:
            raise NoSuchThing(exc.reason) from exc


def compose(settings: RelaySettings, session: Session) -> Admin:
    """Put the parts together. Raises ConfigurationError for an instance's broken filter."""
    paths = Paths.of(settings.zookeeper, settings.installation)
    store = MappingStore(session, paths, partial(highest_recorded_set, settings))
    instances = InstanceStore(session, paths)
    members, overrides = Membership(session, paths), PlacementStore(session, paths)
    for view in routing_views(settings.instances):
        view.table_filter()
    archive = MappingArchive(store)
    defined = partial(defined_instances, settings, session)
    logical, route = LogicalViews(archive, instances, defined), TableRoute(archive, defined)
    audit = AuditTrail(settings.kafka, settings.installation)
    acts = DelayedTrail(AuditTrail(settings.kafka, settings.installation))
    accounts = partial(_accounts, session, AccountStore(session, paths))
    sessions = Sessions(
        LoginSessionStore(session, paths),
        settings.api.session_seconds,
        settings.api.session_idle_seconds,
        settings.api.oidc.issuer if settings.api.oidc else "",
    )
    notes = AttemptNotes(acts)
    login = LoginDesk(accounts, sessions, LoginThrottle(), notes)
    oidc, header = settings.api.oidc, settings.api.trusted_header
    directory = InstanceDirectory(instances, members, InstanceList(settings, session))
    watch = Watch(session, directory, overrides, defined, settings.api.lag_limit_seconds)
    turn = ErasureTurn(session, paths, settings.installation)
    charts = Charts(watch, _prometheus(settings.api))
    return Admin(
        session=session,
        gate=Gate(
            settings.api.token,
            accounts,
            sessions.caller,
            always_ask=reads_need_a_caller(settings.api),
        ),
        login=login,
        trusted_header=None if header is None else TrustedHeader(header, notes),
        provider=None
        if oidc is None
        else ProviderDesk(
            oidc,
            ProviderClient(oidc),
            AccountEditor(settings, session, acts, f"provider {oidc.issuer}"),
            sessions,
            notes,
        ),
        accounts=AccountDesk(AccountEditor(settings, session, acts, "admin"), login),
        first_admin=FirstAdminLink(),
        archive=archive,
        editor=MappingEditor(
            store,
            defined,
            EditEffects(instances, watch.rates),
            acts,
            EarlyReturns(store, instances),
        ),
        logical=logical,
        topics=TopicDirectory(logical, settings.kafka),
        peek=PeekDesk(archive, instances, defined, settings.kafka, PeekNotes(acts)),
        subscriptions=SubscriptionDirectory(archive, logical, settings, defined),
        finder=RouteFinder(archive, route, logical, instances, defined),
        unmapped=UnmappedTables(archive, instances, defined),
        hidden=HiddenTables(HiddenTableStore(session, paths), acts),
        instances=InstanceDesk(
            InstanceDocumentStore(session, paths),
            TopicAgreementStore(session, paths),
            settings,
            acts,
        ),
        placement=PlacementDesk(members, overrides, acts),
        directory=directory,
        route=route,
        positions=PositionDesk(settings, session),
        settings=settings,
        audit=audit,
        book=AuditBook(audit, _AUDIT_ENTRIES),
        acts=acts,
        failover=FailoverDesk(directory, instances.failover, audit),
        watch=watch,
        charts=charts,
        erasures=ErasureDesk.of(settings, session, turn),
        left_settings=LeftSettings.of(settings, session, turn),
        preflight=PreflightDesk(settings, session),
        backups=BackupDesk(settings, session, audit, acts),
    )


def _prometheus(settings: ApiSettings) -> PrometheusReader | None:
    if settings.prometheus_url is None:
        return None
    return PrometheusReader(settings.prometheus_url, settings.prometheus_labels)


def _accounts(session: Session, store: AccountStore) -> Accounts:
    """Return users and tokens.

    While ZooKeeper is unavailable no thread waits for it; otherwise anonymous requests could occupy
    all threads.
    """
    if not session.connected:
        raise session.unreachable()
    return store.read()

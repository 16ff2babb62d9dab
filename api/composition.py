"""The admin's parts, put together once."""

from dataclasses import dataclass
from functools import partial
from typing import Final

from api.access import Gate
from api.access.exposure import reads_need_a_caller
from api.access.login import LoginDesk, LoginThrottle, Sessions
from api.access.login.attempt_notes import AttemptNotes
from api.access.login.first_admin import FirstAdminLink
from api.errors import NoSuchThing
from api.services.accounts import AccountDesk
from api.services.audit_book import AuditBook
from api.services.failover_desk import FailoverDesk
from api.services.instance_desk import InstanceDesk
from api.services.instance_directory import InstanceDirectory
from api.services.letter_lists import LetterLists
from api.services.mappings.edit_effects import EditEffects
from api.services.mappings.logical_view import LogicalViews
from api.services.mappings.mapping_archive import MappingArchive
from api.services.mappings.mapping_editor import MappingEditor
from api.services.mappings.route_finder import RouteFinder
from api.services.mappings.routing_views import routing_views
from api.services.mappings.table_route import TableRoute
from api.services.mappings.unmapped import UnmappedTables
from api.services.placement_desk import PlacementDesk
from api.services.position_desk import PositionDesk
from api.services.topics import TopicDirectory
from api.services.watch import Watch
from relay.audit import AuditTrail, DelayedTrail
from relay.dead_letters import DeadLetterTopic
from relay.errors import ConfigurationError
from relay.model.accounts import Accounts
from relay.operations import AccountEditor, InstanceFlow, InstanceList, defined_instances
from relay.settings import RelaySettings
from relay.state import (
    AccountStore,
    InstanceDocumentStore,
    InstanceStore,
    LoginSessionStore,
    MappingStore,
    Membership,
    Paths,
    PlacementStore,
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
    accounts: AccountDesk
    first_admin: FirstAdminLink
    archive: MappingArchive
    editor: MappingEditor
    logical: LogicalViews
    finder: RouteFinder
    unmapped: UnmappedTables
    directory: InstanceDirectory
    placement: PlacementDesk
    instances: InstanceDesk
    route: TableRoute
    topics: TopicDirectory
    failover: FailoverDesk
    audit: AuditTrail
    book: AuditBook
    acts: DelayedTrail
    positions: PositionDesk
    settings: RelaySettings
    watch: Watch

    def dead_letters(self, instance: str) -> DeadLetterTopic:
        """Return the dead letters of an instance. Raises NodeMissing."""
        self.directory.instance(instance)
        return DeadLetterTopic(self.settings.kafka, self.settings.installation, instance)

    @property
    def letters(self) -> LetterLists:
        """Return the lists of dead letters."""
        return LetterLists(self.directory, self.dead_letters)

    def flow(self, instance: str) -> InstanceFlow:
        """Return what is asked of an instance's flow. Raises NoSuchThing."""
        try:
            return InstanceFlow(self.settings, instance, self.session)
        except ConfigurationError as exc:
            raise NoSuchThing(exc.reason) from exc


def compose(settings: RelaySettings, session: Session) -> Admin:
    """Put the parts together. Raises ConfigurationError for an instance's broken filter."""
    paths = Paths.of(settings.zookeeper, settings.installation)
    store = MappingStore(session, paths)
    instances = InstanceStore(session, paths)
    members, overrides = Membership(session, paths), PlacementStore(session, paths)
    for view in routing_views(settings.instances):
        view.table_filter()
    archive = MappingArchive(store)
    defined = partial(defined_instances, settings, session)
    logical, route = LogicalViews(archive, instances, defined), TableRoute(archive, defined)
    audit = AuditTrail(settings.kafka, settings.installation)
    acts = DelayedTrail(audit)
    accounts = partial(_accounts, session, AccountStore(session, paths))
    sessions = Sessions(
        LoginSessionStore(session, paths),
        settings.api.session_seconds,
        settings.api.session_idle_seconds,
    )
    login = LoginDesk(accounts, sessions, LoginThrottle(), AttemptNotes(acts))
    directory = InstanceDirectory(instances, members, InstanceList(settings, session))
    return Admin(
        session=session,
        gate=Gate(
            settings.api.token,
            accounts,
            sessions.caller,
            always_ask=reads_need_a_caller(settings.api),
        ),
        login=login,
        accounts=AccountDesk(AccountEditor(settings, session, acts, "admin"), login),
        first_admin=FirstAdminLink(),
        archive=archive,
        editor=MappingEditor(store, defined, EditEffects(instances), acts),
        logical=logical,
        topics=TopicDirectory(logical, settings.kafka),
        finder=RouteFinder(archive, route, logical, instances, defined),
        unmapped=UnmappedTables(archive, instances, defined),
        instances=InstanceDesk(InstanceDocumentStore(session, paths), settings, acts),
        placement=PlacementDesk(members, overrides, acts),
        directory=directory,
        route=route,
        positions=PositionDesk(settings, session),
        settings=settings,
        audit=audit,
        book=AuditBook(audit, _AUDIT_ENTRIES),
        acts=acts,
        failover=FailoverDesk(directory, instances.failover, audit),
        watch=Watch(session, directory, overrides, defined, settings.api.lag_limit_seconds),
    )


def _accounts(session: Session, store: AccountStore) -> Accounts:
    """Return users and tokens.

    While ZooKeeper is away no thread waits for it, or requests of strangers would hold all threads.
    """
    if not session.connected:
        raise session.unreachable()
    return store.read()

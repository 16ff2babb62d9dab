"""What outlives every process: mapping sets, statuses, notes, and who is there."""

from relay.state.accounts import AccountStore
from relay.state.backup import Backup, DocumentStore
from relay.state.failover_records import FailoverView, ServerView, StandingOrders, SwitchNote
from relay.state.failover_store import FailoverStore
from relay.state.instances.documents import InstanceDocument, InstanceDocumentStore
from relay.state.instances.flow import NO_LIMIT, Flow, FlowStore
from relay.state.instances.notes import DroppedName, StartNote
from relay.state.instances.secrets import MASK, masked, with_secrets_of
from relay.state.instances.status import UNKNOWN_STATE, InstanceStatus
from relay.state.instances.store import InstanceStore
from relay.state.login_sessions import LoginSessionStore, StoredSession
from relay.state.mappings.records import Note, SetRecord, StoredDocument, StoredSet
from relay.state.mappings.store import SAVE_LIMIT_BYTES, MappingStore
from relay.state.mappings.topic_agreements import TopicAgreementStore
from relay.state.membership import Candidacy, Membership, RelayMember
from relay.state.paths import Paths
from relay.state.placement_overrides import PlacementOverride, PlacementOverrides, PlacementStore
from relay.state.placement_report import Candidate, InstancePlace, check_move, places

__all__ = [
    "MASK",
    "NO_LIMIT",
    "SAVE_LIMIT_BYTES",
    "UNKNOWN_STATE",
    "AccountStore",
    "Backup",
    "Candidacy",
    "Candidate",
    "DocumentStore",
    "DroppedName",
    "FailoverStore",
    "FailoverView",
    "Flow",
    "FlowStore",
    "InstanceDocument",
    "InstanceDocumentStore",
    "InstancePlace",
    "InstanceStatus",
    "InstanceStore",
    "LoginSessionStore",
    "MappingStore",
    "Membership",
    "Note",
    "Paths",
    "PlacementOverride",
    "PlacementOverrides",
    "PlacementStore",
    "RelayMember",
    "ServerView",
    "SetRecord",
    "StandingOrders",
    "StartNote",
    "StoredDocument",
    "StoredSession",
    "StoredSet",
    "SwitchNote",
    "TopicAgreementStore",
    "check_move",
    "masked",
    "places",
    "with_secrets_of",
]

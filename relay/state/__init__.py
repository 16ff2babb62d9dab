"""State in ZooKeeper that outlives every process (mapping sets, statuses, notes), and the list of
the running relays.
"""

from relay.state.accounts import AccountStore
from relay.state.backup import Backup, BackupDifferences
from relay.state.document_store import DocumentStore
from relay.state.erasure_turn import ErasureTurn
from relay.state.failover_records import FailoverView, ServerView, StandingOrders, SwitchNote
from relay.state.failover_store import FailoverState, FailoverStore
from relay.state.instances.documents import InstanceDocument, InstanceDocumentStore
from relay.state.instances.flow import NO_LIMIT, Flow, FlowStore
from relay.state.instances.notes import DroppedName, StartNote
from relay.state.instances.secrets import MASK, masked, with_secrets_of
from relay.state.instances.snapshots import SnapshotRequest, SnapshotState, SnapshotStore, in_turn
from relay.state.instances.status import UNKNOWN_STATE, InstanceStatus
from relay.state.instances.store import InstanceStore
from relay.state.login_sessions import LoginSessionStore, StoredSession
from relay.state.mappings.hidden_tables import MOST_HIDDEN, HiddenTableStore
from relay.state.mappings.key_agreements import (
    FormStore,
    HashedKey,
    KeyAgreements,
    PlannedForms,
    keys_differ,
    keys_repartitioned,
)
from relay.state.mappings.key_forms import KeyFormStore
from relay.state.mappings.records import Note, SetRecord, StoredDocument, StoredSet
from relay.state.mappings.store import SAVE_LIMIT_BYTES, MappingStore
from relay.state.mappings.topic_agreements import TopicAgreementStore, rows_of, statements_of
from relay.state.members.membership import Membership, RelayMember, RunnableInstance
from relay.state.paths import Paths
from relay.state.placement_overrides import PlacementOverride, PlacementOverrides, PlacementStore
from relay.state.placement_report import Candidate, InstanceAssignment, assignments, check_hand_over

__all__ = [
    "MASK",
    "MOST_HIDDEN",
    "NO_LIMIT",
    "SAVE_LIMIT_BYTES",
    "UNKNOWN_STATE",
    "AccountStore",
    "Backup",
    "BackupDifferences",
    "Candidate",
    "DocumentStore",
    "DroppedName",
    "ErasureTurn",
    "FailoverState",
    "FailoverStore",
    "FailoverView",
    "Flow",
    "FlowStore",
    "FormStore",
    "HashedKey",
    "HiddenTableStore",
    "InstanceAssignment",
    "InstanceDocument",
    "InstanceDocumentStore",
    "InstanceStatus",
    "InstanceStore",
    "KeyAgreements",
    "KeyFormStore",
    "LoginSessionStore",
    "MappingStore",
    "Membership",
    "Note",
    "Paths",
    "PlacementOverride",
    "PlacementOverrides",
    "PlacementStore",
    "PlannedForms",
    "RelayMember",
    "RunnableInstance",
    "ServerView",
    "SetRecord",
    "SnapshotRequest",
    "SnapshotState",
    "SnapshotStore",
    "StandingOrders",
    "StartNote",
    "StoredDocument",
    "StoredSession",
    "StoredSet",
    "SwitchNote",
    "TopicAgreementStore",
    "assignments",
    "check_hand_over",
    "in_turn",
    "keys_differ",
    "keys_repartitioned",
    "masked",
    "rows_of",
    "statements_of",
    "with_secrets_of",
]

"""What outlives every process: mapping sets, statuses, notes, and who is there."""

from relay.state.backup import Backup, DocumentStore
from relay.state.failover_records import FailoverView, ServerView, StandingOrders, SwitchNote
from relay.state.failover_store import FailoverStore
from relay.state.flow import NO_LIMIT, Flow, FlowStore
from relay.state.instance_documents import MASK, InstanceDocument, InstanceDocumentStore, with_secrets_of
from relay.state.instance_notes import DroppedName, StartNote
from relay.state.instance_status import UNKNOWN_STATE, InstanceStatus
from relay.state.instance_store import InstanceStore
from relay.state.mapping_records import Note, SetRecord, StoredDocument, StoredSet
from relay.state.mapping_store import SAVE_LIMIT_BYTES, MappingStore
from relay.state.membership import Candidacy, Membership, RelayMember
from relay.state.paths import Paths
from relay.state.placement_report import Candidate, InstancePlace, check_move, places
from relay.state.placement_wishes import PlacementStore, PlacementWishes, Wish

__all__ = [
    "MASK",
    "NO_LIMIT",
    "SAVE_LIMIT_BYTES",
    "UNKNOWN_STATE",
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
    "MappingStore",
    "Membership",
    "Note",
    "Paths",
    "PlacementStore",
    "PlacementWishes",
    "RelayMember",
    "ServerView",
    "SetRecord",
    "StandingOrders",
    "StartNote",
    "StoredDocument",
    "StoredSet",
    "SwitchNote",
    "Wish",
    "check_move",
    "places",
    "with_secrets_of",
]

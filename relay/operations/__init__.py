"""What operators do by hand: previews, fenced writes, entries in the audit trail.

The command line and the admin call these alone.
"""

from relay.operations.accounts import AccountEditor, NewToken, UserChange
from relay.operations.first_start import has_users, traces_of_work
from relay.operations.instance_mapping import InstanceMapping, MappingComparison, mapping_in_force
from relay.operations.instances.chosen_source import chosen_server
from relay.operations.instances.flow import InstanceFlow
from relay.operations.instances.known_instances import (
    DefinedInstances,
    defined_instances,
    instance_of,
    is_known,
)
from relay.operations.instances.listing import NEVER_REPORTED, InstanceList, ListedInstance
from relay.operations.maintenance import HandOver, hand_overs
from relay.operations.mapping_sets import MappingEdit, MappingSets
from relay.operations.placement import PlacementEditor
from relay.operations.positions.fields import position_fields
from relay.operations.positions.position import InstancePosition, Preview, Shown
from relay.operations.positions.repartition import Repartition, RepartitionPlan
from relay.operations.positions.repositioning import Move, MoveKind
from relay.operations.positions.sentences import (
    compared,
    foretold,
    found_place,
    moved,
    repartitioned,
    shown,
)
from relay.operations.positions.time_search import place_by_time
from relay.operations.protected_tree import ProtectedTree
from relay.operations.replay import replay
from relay.operations.restored_documents import restore_documents
from relay.operations.who import Who

__all__ = [
    "NEVER_REPORTED",
    "AccountEditor",
    "DefinedInstances",
    "HandOver",
    "InstanceFlow",
    "InstanceList",
    "InstanceMapping",
    "InstancePosition",
    "ListedInstance",
    "MappingComparison",
    "MappingEdit",
    "MappingSets",
    "Move",
    "MoveKind",
    "NewToken",
    "PlacementEditor",
    "Preview",
    "ProtectedTree",
    "Repartition",
    "RepartitionPlan",
    "Shown",
    "UserChange",
    "Who",
    "chosen_server",
    "compared",
    "defined_instances",
    "foretold",
    "found_place",
    "hand_overs",
    "has_users",
    "instance_of",
    "is_known",
    "mapping_in_force",
    "moved",
    "place_by_time",
    "position_fields",
    "repartitioned",
    "replay",
    "restore_documents",
    "shown",
    "traces_of_work",
]

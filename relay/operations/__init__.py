"""Carries out operators' acts on an installation: previews, changes of the position record, and
audit entries.

The command line and the admin change an installation only through this package.
"""

from relay.operations.accounts import AccountEditor, NewToken, UserChange
from relay.operations.copy_sentences import foretold_copy, foretold_repair, progress_sentence
from relay.operations.erasure import (
    FRESH_SECONDS,
    ErasureChoice,
    ErasurePlan,
    Needles,
    PersonErasure,
    Switches,
    erased,
    planned,
    put_back_settings,
    read_needles,
)
from relay.operations.first_start import has_users, traces_of_work
from relay.operations.instances.chosen_source import chosen_server
from relay.operations.instances.flow import InstanceFlow
from relay.operations.instances.known_instances import (
    DefinedInstances,
    defined_instances,
    instance_of,
    is_known,
)
from relay.operations.instances.listing import NEVER_REPORTED, InstanceList, ListedInstance
from relay.operations.instances.retirement import Retirement
from relay.operations.maintenance import HandOver, hand_overs
from relay.operations.mappings.early_returns import EarlyReturns
from relay.operations.mappings.instance_mapping import (
    InstanceMapping,
    MappingComparison,
    active_mapping_set,
)
from relay.operations.mappings.mapping_sets import MappingEdit, MappingSets
from relay.operations.mappings.recorded_sets import highest_recorded_set
from relay.operations.peek.letter_masks import LetterMasks, key_is_hidden
from relay.operations.peek.letter_rows import LetterRows, letter_rows
from relay.operations.peek.newest import PeekPage
from relay.operations.peek.peek import Peek, PeekBatch
from relay.operations.peek.question import (
    NEWEST_ROWS,
    FromMoment,
    FromNewest,
    FromNow,
    PeekQuestion,
    PeekStart,
    peek_start,
)
from relay.operations.peek.rows import PeekedColumn, PeekedRow, RowReader
from relay.operations.peek.tables import PeekTable, PeekTables, near_names
from relay.operations.placement import PlacementEditor
from relay.operations.positions.fields import position_fields
from relay.operations.positions.position import InstancePosition, Shown
from relay.operations.positions.preview import Preview
from relay.operations.positions.repartition import Repartition, RepartitionPlan
from relay.operations.positions.repositioning import Reposition, RepositionKind
from relay.operations.positions.sentences import (
    compared,
    foretold,
    found_position,
    moved,
    partitioned_otherwise,
    repartitioned,
    shown,
)
from relay.operations.positions.time_search import position_by_time
from relay.operations.protected_tree import ProtectedTree
from relay.operations.repair_report import RepairPlan, repair_of_keys, repair_plan
from relay.operations.replay import preview_replay, replay
from relay.operations.restore_preview import RestorePreview, restore_preview
from relay.operations.restored_documents import kept_documents, restore_documents, restored_accounts
from relay.operations.snapshots import ShownSnapshot, Snapshots
from relay.operations.wanted_snapshots import WantedSnapshot
from relay.operations.who import Who

__all__ = [
    "FRESH_SECONDS",
    "NEVER_REPORTED",
    "NEWEST_ROWS",
    "AccountEditor",
    "DefinedInstances",
    "EarlyReturns",
    "ErasureChoice",
    "ErasurePlan",
    "FromMoment",
    "FromNewest",
    "FromNow",
    "HandOver",
    "InstanceFlow",
    "InstanceList",
    "InstanceMapping",
    "InstancePosition",
    "LetterMasks",
    "LetterRows",
    "ListedInstance",
    "MappingComparison",
    "MappingEdit",
    "MappingSets",
    "Needles",
    "NewToken",
    "Peek",
    "PeekBatch",
    "PeekPage",
    "PeekQuestion",
    "PeekStart",
    "PeekTable",
    "PeekTables",
    "PeekedColumn",
    "PeekedRow",
    "PersonErasure",
    "PlacementEditor",
    "Preview",
    "ProtectedTree",
    "RepairPlan",
    "Repartition",
    "RepartitionPlan",
    "Reposition",
    "RepositionKind",
    "RestorePreview",
    "Retirement",
    "RowReader",
    "Shown",
    "ShownSnapshot",
    "Snapshots",
    "Switches",
    "UserChange",
    "WantedSnapshot",
    "Who",
    "active_mapping_set",
    "chosen_server",
    "compared",
    "defined_instances",
    "erased",
    "foretold",
    "foretold_copy",
    "foretold_repair",
    "found_position",
    "hand_overs",
    "has_users",
    "highest_recorded_set",
    "instance_of",
    "is_known",
    "kept_documents",
    "key_is_hidden",
    "letter_rows",
    "moved",
    "near_names",
    "partitioned_otherwise",
    "peek_start",
    "planned",
    "position_by_time",
    "position_fields",
    "preview_replay",
    "progress_sentence",
    "put_back_settings",
    "read_needles",
    "repair_of_keys",
    "repair_plan",
    "repartitioned",
    "replay",
    "restore_documents",
    "restore_preview",
    "restored_accounts",
    "shown",
    "traces_of_work",
]

"""What operators do by hand: previews, fenced writes, entries in the audit trail. The command line and the admin call these alone."""

from relay.operations.instance_flow import InstanceFlow
from relay.operations.instance_position import InstancePosition, Preview, Shown
from relay.operations.known_instances import instance_of, is_known
from relay.operations.moves import Move, MoveKind
from relay.operations.replay import replay
from relay.operations.restored_documents import restore_documents
from relay.operations.sentences import foretold, found_place, moved, shown
from relay.operations.time_place import place_by_time
from relay.operations.who import Who

__all__ = [
    "InstanceFlow",
    "InstancePosition",
    "Move",
    "MoveKind",
    "Preview",
    "Shown",
    "Who",
    "foretold",
    "found_place",
    "instance_of",
    "is_known",
    "moved",
    "place_by_time",
    "replay",
    "restore_documents",
    "shown",
]

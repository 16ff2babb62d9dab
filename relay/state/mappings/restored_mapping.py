"""Decides what a restore does with mapping sets: numbers only rise, and no set is overwritten.
Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from relay.errors import MappingRefused
from relay.state.mappings.records import Pointer, SetRecord, StoredDocument
from relay.state.paths import Paths

MAPPINGS: Final = "mappings/"
POINTER: Final = "mappings/pointer"
_PATHS: Final = Paths("")


@dataclass(frozen=True, slots=True)
class RestoredMapping:
    """What a restore does with the nodes of mapping sets.

    missing  paths to write as they are in the backup
    differ   the pointer, if it gets another value
    kept     paths with other contents, whose present contents stay
    bodies   documents that become a new active set; None: the active set already has them, the
             backup's active set cannot be read, or ZooKeeper has no sets, so that the pointer is
             written as it is in the backup
    """

    missing: tuple[str, ...]
    differ: tuple[str, ...]
    kept: tuple[str, ...]
    bodies: Mapping[str, str] | None


def restored_mapping(backup: Mapping[str, bytes], present: Mapping[str, bytes]) -> RestoredMapping:
    """Return what a restore does with the mapping sets. Both parameters are node values by path.

    Position records and markers name sets by number. If an earlier number became active again,
    clients would ignore the markers of later edits (ADR 89). Former sets of the backup are written
    only if no present set or document has other contents under its number.
    """
    own = {path: value for path, value in backup.items() if path.startswith(MAPPINGS)}
    if not any(path.startswith(MAPPINGS) for path in present):
        return RestoredMapping(tuple(own), (), (), None)
    wanted = active_set(backup)  # None: a damaged backup replaces nothing
    bodies = None if wanted == active_set(present) else wanted
    pointer = () if bodies is None else (POINTER,)
    former = {path: value for path, value in own.items() if path != POINTER}
    kept = tuple(path for path, value in former.items() if present.get(path, value) != value)
    missing = () if kept else tuple(path for path in former if path not in present)
    is_there = POINTER in present
    return RestoredMapping(
        missing if is_there else (*missing, *pointer), pointer if is_there else (), kept, bodies
    )


def active_set(nodes: Mapping[str, bytes]) -> Mapping[str, str] | None:
    """Return the documents of the active set; None if it cannot be read. `nodes` are node values
    by path.
    """
    number = active_number(nodes)
    try:
        record = SetRecord.from_document(number, nodes[_path(_PATHS.mapping_set(number))])
        return {
            name: _document(nodes, name, version).body for name, version in record.versions.items()
        }
    except (KeyError, MappingRefused):
        return None


def active_number(nodes: Mapping[str, bytes]) -> int:
    """Return the number of the active set; 0 if the pointer is missing or cannot be read."""
    try:
        return Pointer.from_document(nodes[POINTER], 0).number
    except (KeyError, MappingRefused):
        return 0


def _document(nodes: Mapping[str, bytes], name: str, version: int) -> StoredDocument:
    value = nodes[_path(_PATHS.mapping_document(name, version))]
    return StoredDocument.from_document(name, version, value)


def _path(node: str) -> str:
    return node.lstrip("/")

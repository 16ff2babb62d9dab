"""Values that are read from ZooKeeper, and the single steps of a transaction."""

from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

ANY_VERSION: Final = -1
"""Matches any version in a write."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node's value and version.

    `ephemeral_owner` is the owning session's id, None for a persistent node. `changed` is the
    number (zxid) of the last change, which rises with each change of any node.
    """

    value: bytes
    version: int
    ephemeral_owner: int | None
    modified_ms: int
    changed: int = 0

    @property
    def state(self) -> str:
        """Return a name of this state of the node.

        A node that was deleted and created again repeats its versions, but never this name. The
        name contains the time, so it is unique even on servers that lost their data.
        """
        return f"{self.changed:x}-{self.modified_ms:x}"


class Children(NamedTuple):
    """The state of a node's children: the number of the last change, the node's change count, and
    the number of children.
    """

    change: int
    version: int
    number: int


@dataclass(frozen=True, slots=True)
class Create:
    """Create a node; VersionConflict if it exists, NodeMissing if its parent does not."""

    path: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Replace:
    """Replace a node's value if it still has this version."""

    path: str
    value: bytes
    version: int


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a node if it still has this version."""

    path: str
    version: int


@dataclass(frozen=True, slots=True)
class Check:
    """Change nothing, but fail the transaction unless the node still has this version."""

    path: str
    version: int


Step: TypeAlias = Create | Replace | Delete | Check

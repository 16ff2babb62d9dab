"""What is read from ZooKeeper, and the single steps of a transaction."""

from dataclasses import dataclass
from typing import Final, TypeAlias

ANY_VERSION: Final = -1
"""Stands for "whatever version is there" in a write."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node's value with what guards it.

    `ephemeral_owner` is the owning session's id, None for a node that stays.
    """

    value: bytes
    version: int
    ephemeral_owner: int | None
    modified_ms: int


@dataclass(frozen=True, slots=True)
class Create:
    """Create a node; VersionConflict if it is there, NodeMissing if its parent is not."""

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
    """Change nothing, but let the transaction fail unless the node still has this version."""

    path: str
    version: int


Step: TypeAlias = Create | Replace | Delete | Check

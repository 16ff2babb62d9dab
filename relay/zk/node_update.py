"""Changes a node that several processes change at one time, each under the node's version."""

from collections.abc import Callable
from typing import Final, TypeVar

from relay.errors import NodeMissing, VersionConflict
from relay.zk.node import Node
from relay.zk.session import Session

_ATTEMPTS: Final = 20
"""Largest number of attempts. Few processes change one node at a time, and each change takes
milliseconds.
"""

Result = TypeVar("Result")


def update_node(
    session: Session, path: str, change: Callable[[Node | None], tuple[Result, bytes | None]]
) -> Result:
    """Change a node; repeat this from its current value if another process changed the node
    meanwhile.

    `change` receives the node, None if it is missing. It returns a result and the new value, None
    to leave the node unchanged. The function returns the last result. Raises the errors of
    `change`, VersionConflict or NodeMissing after many attempts, StoreUnreachable.
    """
    for attempts_left in reversed(range(_ATTEMPTS)):
        node = session.find(path, synced=True)
        result, value = change(node)
        if value is None:
            return result
        try:
            if node is None:
                session.create(path, value)
            else:
                session.compare_and_set(path, value, node.version)
        except (VersionConflict, NodeMissing):
            if not attempts_left:
                raise
        else:
            return result
    raise AssertionError("the last attempt returns or raises")

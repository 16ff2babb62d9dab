"""Caches decoded node values, so that each value is decoded once per change in ZooKeeper."""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from relay.zk import Node

Value = TypeVar("Value")


class DecodedNodes(Generic[Value]):
    """Decodes nodes that the caller has just read. For an unchanged node it returns the same object
    again.

    The caller reads all nodes each time, so no value is older than its node. Values of removed
    names are dropped. Any thread may call it.
    """

    def __init__(self, decode: Callable[[str, bytes], Value]) -> None:
        """`decode` creates a value from its name and its node's value. Callers must not change the
        returned values.
        """
        self._decode = decode
        self._known: Mapping[str, tuple[tuple[int, int], Value]] = {}

    def decoded(self, names: Sequence[str], nodes: Sequence[Node | None]) -> dict[str, Value]:
        """Return the value of each name that has a node, in the order of the names."""
        known = self._known
        found: dict[str, tuple[tuple[int, int], Value]] = {}
        for name, node in zip(names, nodes, strict=True):
            if node is None:
                continue
            state = node.changed, node.modified_ms  # unique for each state, as Node.state is
            before = known.get(name)
            if before is not None and before[0] == state:
                found[name] = before
            else:
                found[name] = state, self._decode(name, node.value)
        self._known = found
        return {name: value for name, (_, value) in found.items()}

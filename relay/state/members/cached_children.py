"""Caches the values of a node's children, and reads them from ZooKeeper again only
after a change.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, Generic, TypeVar
from urllib.parse import unquote

from relay.errors import NodeMissing
from relay.zk import Children, Session

T = TypeVar("T")

_READ_ALL_SECONDS: Final = 30.0
"""After this time everything is read again: servers of older releases may lose the number of the
last change of children at a restart.
"""


@dataclass(frozen=True, slots=True)
class _Known(Generic[T]):
    """What was read in a session, at a second of the monotonic clock.

    `changes` holds the number of each child's last change by the name of its node; `values` what
    was read of it, by its name without escapes.
    """

    session: int
    read_at_s: float
    children: Children | None = None
    changes: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, T] = field(default_factory=dict)


class CachedChildren(Generic[T]):
    """Returns the values of a node's children by name. Any thread may call it.

    One request finds out whether a child was created or removed. With `fixed` the value of a child
    never changes, so there is no other request; otherwise a small request for each child finds out
    whether it changed. ZooKeeper numbers all changes and repeats no number in a session, so an
    equal number means that nothing changed.
    """

    def __init__(
        self, session: Session, path: str, read: Callable[[str, bytes], T], *, fixed: bool
    ) -> None:
        """`read` makes the value of a child from its name and its node's value."""
        self._session = session
        self._path = path
        self._read = read
        self._fixed = fixed
        self._known: _Known[T] = _Known(session.sessions, monotonic())

    def values(self) -> Mapping[str, T]:
        """Return name → value; the same object as long as nothing changed. It is empty if the node
        does not exist.

        Raises StoreUnreachable.
        """
        known = self._usable()
        # The state is read before the names. If a child is created between the two reads, the next
        # call sees another state and reads the names again.
        children = self._session.children_state(self._path)
        if children == known.children and (self._fixed or children is None):
            self._known = known
        elif children == known.children:
            self._known = self._again(known, children, tuple(known.changes))
        else:
            self._known = self._again(known, children, self._names())
        return self._known.values

    def _usable(self) -> _Known[T]:
        """Return what is known, nothing after `_READ_ALL_SECONDS` or in another session."""
        known, session, now_s = self._known, self._session.sessions, monotonic()
        fresh = known.session == session and now_s - known.read_at_s < _READ_ALL_SECONDS
        return known if fresh else _Known(session, now_s)

    def _names(self) -> tuple[str, ...]:
        try:
            return self._session.children(self._path)
        except NodeMissing:
            return ()

    def _again(
        self, known: _Known[T], children: Children | None, names: tuple[str, ...]
    ) -> _Known[T]:
        """Read the children of these names that changed since they were known."""
        numbers = self._session.changes([f"{self._path}/{name}" for name in names])
        changes = {
            name: number for name, number in zip(names, numbers, strict=True) if number is not None
        }
        if changes == known.changes:
            return _Known(known.session, known.read_at_s, children, changes, known.values)
        changed = [name for name, number in changes.items() if known.changes.get(name) != number]
        nodes = self._session.find_all([f"{self._path}/{name}" for name in changed])
        values = {
            name: known.values[name]
            for name in map(unquote, changes.keys() - set(changed))
            if name in known.values
        }
        for escaped, node in zip(changed, nodes, strict=True):
            if node is not None:
                name = unquote(escaped)
                values[name] = self._read(name, node.value)
        return _Known(
            known.session, known.read_at_s, children, changes, dict(sorted(values.items()))
        )

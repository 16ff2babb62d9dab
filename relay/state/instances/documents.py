"""Instances that operators define at run time, in addition to those of the configuration file: one
JSON document each.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from relay.errors import NodeMissing, VersionConflict
from relay.settings import InstanceSettings, RunTimeVariables, instance_settings
from relay.state.instances.secrets import masked
from relay.state.paths import Paths
from relay.zk import Check, Create, Delete, Node, Replace, Session, Step, Watch

_ATTEMPTS: Final = 5


@dataclass(frozen=True, slots=True)
class InstanceDocument:
    """The settings of one instance, as an operator wrote them.

    version   rises with every change until the document is removed
    state     identifies this state of the document; every later state has another value
    removals  how many documents had been removed when this one was read
    """

    name: str
    fields: Mapping[str, Any]
    version: int
    state: str = ""
    removals: int = 0

    @property
    def shown(self) -> dict[str, Any]:
        """The settings without their secrets."""
        return masked(self.fields)

    def settings(self, variables: RunTimeVariables) -> InstanceSettings:
        """Return the checked settings for a relay; `variables` are the environment variables that
        secret fields may use.

        Raises ConfigurationError.
        """
        return instance_settings(self.fields, f"Instance {self.name}", variables)


class InstanceDocumentStore:
    """Reads and writes instance documents. Each write names the document that it replaces.

    ZooKeeper counts the versions of a node from 0 again if it is created again. So each removal
    also changes the parent node, and a write requires an unchanged parent.
    """

    def __init__(self, session: Session, paths: Paths) -> None:
        self._session = session
        self._paths = paths

    def all(self) -> tuple[InstanceDocument, ...]:
        """Return all documents, sorted by name."""
        try:
            names = tuple(map(unquote, self._session.children(self._paths.definitions)))
        except NodeMissing:
            return ()
        parent, *nodes = self._session.find_all(
            [self._paths.definitions, *(self._paths.definition(name) for name in names)]
        )
        return tuple(
            _document(name, node, parent)
            for name, node in zip(names, nodes, strict=True)
            if node is not None
        )

    def names(self) -> frozenset[str]:
        """Return the names of all documents."""
        try:
            return frozenset(map(unquote, self._session.children(self._paths.definitions)))
        except NodeMissing:
            return frozenset()

    def find(self, name: str) -> InstanceDocument | None:
        """Return one document, None if it does not exist."""
        parent, node = self._session.find_all(
            [self._paths.definitions, self._paths.definition(name)]
        )
        return None if node is None else _document(name, node, parent)

    def save(
        self, name: str, fields: Mapping[str, Any], before: InstanceDocument | None
    ) -> InstanceDocument:
        """Replace the document `before`, which was read earlier, by `fields`; None: no document of
        this name may exist.

        Return the new document. Raises VersionConflict, NodeMissing.
        """
        path = self._paths.definition(name)
        value = json.dumps(fields, ensure_ascii=False, indent=2).encode()
        if before is None:
            self._session.ensure(self._paths.definitions)
            # ZooKeeper returns the state of a node that it replaced, but not of one that it
            # created.
            (node,) = self._session.commit([Create(path, b""), Replace(path, value, 0)])
            return InstanceDocument(name, fields, node.version + 1, node.state)
        (node,) = self._commit(
            before,
            lambda known: [
                Check(self._paths.definitions, known.removals),
                Replace(path, value, known.version - 1),
            ],
        )
        return InstanceDocument(name, fields, node.version + 1, node.state, before.removals)

    def remove(self, before: InstanceDocument) -> None:
        """Remove the document `before`, which was read earlier. Raises VersionConflict,
        NodeMissing.
        """
        self._commit(
            before,
            lambda known: [
                Replace(self._paths.definitions, b"", known.removals),
                Delete(self._paths.definition(known.name), known.version - 1),
            ],
        )

    def _commit(
        self, before: InstanceDocument, steps: Callable[[InstanceDocument], Sequence[Step]]
    ) -> list[Node]:
        """Execute the steps; again if only other documents were removed meanwhile."""
        known = before
        for attempts_left in reversed(range(_ATTEMPTS)):
            try:
                return self._session.commit(steps(known))
            except VersionConflict:
                found = self.find(before.name)
                if not attempts_left or found is None or found.state != before.state:
                    raise
                known = found
        raise AssertionError("the last attempt returns or raises")

    def watch(self, signal: Callable[[], None]) -> Watch:
        """Call `signal` when a document may have been created or removed. A changed document is not
        signalled.
        """
        return self._session.watch_children(self._paths.definitions, signal)


def _document(name: str, node: Node, parent: Node | None) -> InstanceDocument:
    removals = 0 if parent is None else parent.version
    return InstanceDocument(name, _fields(node.value), node.version + 1, node.state, removals)


def _fields(value: bytes) -> Mapping[str, Any]:
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        return {}
    return parsed

"""Instances that operators define at run time, beside those of the configuration file: one JSON
document each.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from relay.errors import NodeMissing
from relay.settings import InstanceSettings, RunTimeVariables, instance_settings
from relay.state.instances.secrets import masked
from relay.state.paths import Paths
from relay.zk import Session, Watch


@dataclass(frozen=True, slots=True)
class InstanceDocument:
    """The settings of one instance as an operator wrote them.

    `version` rises with every change, 0: never saved.
    """

    name: str
    fields: Mapping[str, Any]
    version: int

    @property
    def shown(self) -> dict[str, Any]:
        """The settings without their secrets."""
        return masked(self.fields)

    def settings(self, variables: RunTimeVariables) -> InstanceSettings:
        """Return the checked settings for a relay; secret fields may use `variables`.

        Raises ConfigurationError.
        """
        return instance_settings(self.fields, f"Instance {self.name}", variables)


class InstanceDocumentStore:
    """Reads and writes instance documents; each write names the version that it replaces."""

    def __init__(self, session: Session, paths: Paths) -> None:
        self._session = session
        self._paths = paths

    def all(self) -> tuple[InstanceDocument, ...]:
        """Return every document, by name."""
        try:
            names = tuple(map(unquote, self._session.children(self._paths.definitions)))
        except NodeMissing:
            return ()
        nodes = self._session.find_all([self._paths.definition(name) for name in names])
        return tuple(
            InstanceDocument(name, _fields(node.value), node.version + 1)
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
        node = self._session.find(self._paths.definition(name))
        return (
            None if node is None else InstanceDocument(name, _fields(node.value), node.version + 1)
        )

    def save(self, name: str, fields: Mapping[str, Any], version: int) -> InstanceDocument:
        """Write a document over `version` (0: it must not exist).

        Raises VersionConflict, NodeMissing.
        """
        path, value = (
            self._paths.definition(name),
            json.dumps(fields, ensure_ascii=False, indent=2).encode(),
        )
        if not version:
            self._session.create(path, value)
            return InstanceDocument(name, fields, 1)
        return InstanceDocument(
            name, fields, self._session.compare_and_set(path, value, version - 1) + 1
        )

    def remove(self, name: str, version: int) -> None:
        """Remove a document. Raises VersionConflict, NodeMissing."""
        self._session.delete(self._paths.definition(name), version - 1)

    def watch(self, signal: Callable[[], None]) -> Watch:
        """Call `signal` when a document may have come or gone; one that changed is not
        signalled.
        """
        return self._session.watch_children(self._paths.definitions, signal)


def _fields(value: bytes) -> Mapping[str, Any]:
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        return {}
    return parsed

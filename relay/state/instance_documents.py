"""Instances that operators define at run time, beside those of the configuration file: one JSON document each."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from relay.errors import NodeMissing
from relay.settings import InstanceSettings, instance_settings
from relay.state.paths import Paths
from relay.zk import Session, Watch

MASK: Final = "**********"
"""Stands for a secret in what is shown; a document that comes back with it keeps the secret that is stored."""
_SECRETS: Final = frozenset({"password", "salt", "secrets"})


@dataclass(frozen=True, slots=True)
class InstanceDocument:
    """The settings of one instance as an operator wrote them; `version` rises with every change, 0: never saved."""

    name: str
    fields: Mapping[str, Any]
    version: int

    @property
    def shown(self) -> dict[str, Any]:
        """The settings without their secrets."""
        return {key: _masked(key, value) for key, value in self.fields.items()}

    def settings(self) -> InstanceSettings:
        """What a relay runs: checked, with `${NAME}` taken from its environment. Raises ConfigurationError."""
        return instance_settings(self.fields, f"Instance {self.name}")


class InstanceDocumentStore:
    """Keeps the documents; each is guarded by its version."""

    def __init__(self, session: Session, paths: Paths) -> None:
        self._session = session
        self._paths = paths

    def all(self) -> tuple[InstanceDocument, ...]:
        """Return every document, by name."""
        try:
            names = self._session.children(self._paths.definitions)
        except NodeMissing:
            return ()
        found = (self.find(unquote(name)) for name in names)
        return tuple(each for each in found if each is not None)

    def find(self, name: str) -> InstanceDocument | None:
        """Return one document, None where there is none."""
        node = self._session.find(self._paths.definition(name))
        return None if node is None else InstanceDocument(name, _fields(node.value), node.version + 1)

    def save(self, name: str, fields: Mapping[str, Any], version: int) -> InstanceDocument:
        """Write a document over `version` (0: it is not there yet). Raises VersionConflict, NodeMissing."""
        path, value = self._paths.definition(name), json.dumps(fields, ensure_ascii=False, indent=2).encode()
        if not version:
            self._session.create(path, value)
            return InstanceDocument(name, fields, 1)
        return InstanceDocument(name, fields, self._session.compare_and_set(path, value, version - 1) + 1)

    def remove(self, name: str, version: int) -> None:
        """Remove a document. Raises VersionConflict, NodeMissing."""
        self._session.delete(self._paths.definition(name), version - 1)

    def watch(self, signal: Callable[[], None]) -> Watch:
        """Call `signal` when a document may have come or gone; one that changed is not signalled."""
        return self._session.watch_children(self._paths.definitions, signal)


def with_secrets_of(stored: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Put the stored secrets where a document that was shown comes back with the mask."""
    return {key: _unmasked(value, stored.get(key)) for key, value in fields.items()}


def _unmasked(value: Any, stored: Any) -> Any:
    if isinstance(value, dict) and isinstance(stored, Mapping):
        return with_secrets_of(stored, value)
    if isinstance(value, list) and isinstance(stored, list):
        return _list_unmasked(value, stored)
    return stored if value == MASK and stored is not None else value


def _list_unmasked(values: list[Any], stored: list[Any]) -> list[Any]:
    """One that is as it was shown keeps its secrets wherever it stands; where none came or went, a changed one those of its place."""
    shown = [_masked("", each) for each in stored]
    free = list(range(len(stored)))
    places: list[int | None] = []
    for value in values:
        place = next((each for each in free if shown[each] == value), None)
        places.append(place)
        if place is not None:
            free.remove(place)
    free = free if len(values) == len(stored) else []
    found = [at if place is None and at in free else place for at, place in enumerate(places)]
    return [value if place is None else _unmasked(value, stored[place]) for value, place in zip(values, found, strict=True)]


def _masked(key: str, value: Any, inside: bool = False) -> Any:
    """Hide what stands under the name of a secret; the name of an environment variable is none."""
    secret = inside or key in _SECRETS
    if isinstance(value, Mapping):
        return {inner: _masked(inner, each, secret) for inner, each in value.items()}
    if isinstance(value, list):
        return [_masked(key, each, secret) for each in value]
    return MASK if secret and value and not _from_environment(value) else value


def _from_environment(value: object) -> bool:
    return isinstance(value, str) and value.startswith("${") and value.endswith("}")


def _fields(value: bytes) -> Mapping[str, Any]:
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        return {}
    return parsed

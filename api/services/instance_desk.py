"""Instances that are defined at run time: checked as those of the file, shown without their secrets."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import structlog

from api.entity_tag import Precondition
from api.errors import DefinedInFile, InstanceRefused
from relay.errors import ConfigurationError, NodeMissing
from relay.settings import InstanceSettings, instance_settings
from relay.state import MASK, InstanceDocument, InstanceDocumentStore, Note, with_secrets_of

_log = structlog.stdlib.get_logger(__name__)


class InstanceDesk:
    """Takes, shows and removes documents; relays carry them out within a second or two."""

    def __init__(self, store: InstanceDocumentStore, of_file: Iterable[InstanceSettings]) -> None:
        self._store = store
        self._of_file = frozenset(each.name for each in of_file)

    def read(self, name: str) -> InstanceDocument:
        """Return a document. Raises NodeMissing."""
        found = self._store.find(name)
        if found is None:
            where = "stands in the configuration file" if name in self._of_file else "was not defined at run time"
            raise NodeMissing(f"Instance {name} {where}.")
        return found

    def save(self, name: str, fields: Mapping[str, Any], precondition: Precondition, note: Note) -> InstanceDocument:
        """Add or replace a document. Raises DefinedInFile, InstanceRefused, VersionConflict and what `Precondition.check` does."""
        if name in self._of_file:
            raise DefinedInFile(f"Instance {name} stands in the configuration file.")
        stored = self._store.find(name)
        version = stored.version if stored is not None else 0
        precondition.check(version, exists=stored is not None)
        whole = with_secrets_of(stored.fields if stored is not None else {}, {**fields, "name": fields.get("name", name)})
        _check(name, whole)
        saved = self._store.save(name, whole, version)
        _log.info("instance_saved", instance=name, version=saved.version, author=note.author, comment=note.comment)
        return saved

    def remove(self, name: str, precondition: Precondition, note: Note) -> None:
        """Remove a document: its relays end the instance at the border of a transaction; its position stays. Raises NodeMissing."""
        stored = self.read(name)
        precondition.check(stored.version, exists=True)
        self._store.remove(name, stored.version)
        _log.info("instance_removed", instance=name, version=stored.version, author=note.author, comment=note.comment)


def _check(name: str, fields: Mapping[str, Any]) -> None:
    if MASK in json.dumps(fields):
        raise InstanceRefused(f"A secret is given as {MASK}, and none is stored in its place.")
    try:
        found = instance_settings(fields, f"Instance {name}", resolved=False)
    except ConfigurationError as exc:
        raise InstanceRefused(exc.reason) from exc
    if found.name != name:
        raise InstanceRefused(f"The document calls the instance {found.name}, and its address {name}.")

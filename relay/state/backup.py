"""All documents of an installation as a folder of files, and back: mapping sets and their pointer,
and what is noted of instances.

What lives only as long as a process (relays, leaders, statuses) is left out, and so are sign-ins
and orders to a failover. The position is in Kafka.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import Any, Final

from relay.errors import BackupRefused, NodeMissing, VersionConflict
from relay.state.backup_file import FORMAT, from_file, newer, to_file
from relay.state.paths import Paths
from relay.zk import Session

_MANIFEST: Final = "backup.json"
_POINTER: Final = "mappings/pointer"
# Of an instance's nodes these say what is, or what is to be done once: an order to switch the
# source must not be carried out again.
_PASSING: Final = re.compile(r"status|called|failover/(sources/[^/]+/)?(view|orders)")


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup holds: node paths below the installation, with their values."""

    installation: str
    made_ms: int
    nodes: Mapping[str, bytes]

    def write(self, folder: Path) -> None:
        """Write it into a folder that is empty or not there.

        The manifest comes last, so that half a backup is none.
        """
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise BackupRefused(
                    f"{folder} is not empty.", remedy="Name a folder that is empty or not there."
                )
            for path, value in self.nodes.items():
                file = folder / f"{path}.json"
                file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                _write(file, to_file(path, value))
            manifest = {
                "format": FORMAT,
                "installation": self.installation,
                "made_ms": self.made_ms,
                "nodes": len(self.nodes),
            }
            _write(folder / _MANIFEST, json.dumps(manifest, indent=2) + "\n")
        except OSError as exc:
            raise BackupRefused(f"{folder} cannot be written: {exc.strerror}.") from exc

    @classmethod
    def read(cls, folder: Path) -> "Backup":
        """Read it back. Raises BackupRefused when it is of a newer format, or not whole."""
        try:
            manifest: dict[str, Any] = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
            if manifest["format"] > FORMAT:
                raise newer(str(folder), manifest["format"])
            files = sorted(file for file in folder.rglob("*.json") if file != folder / _MANIFEST)
            nodes = dict(from_file(file.read_text(encoding="utf-8"), str(file)) for file in files)
            whole = manifest["nodes"] == len(nodes)
            found = cls(manifest["installation"], manifest["made_ms"], nodes)
        except OSError as exc:
            raise BackupRefused(f"{folder} cannot be read: {exc.strerror}.") from exc
        except (ValueError, KeyError, TypeError) as exc:
            raise BackupRefused(f"{folder} is no backup ({exc!r}).") from exc
        if not whole:
            raise BackupRefused(
                f"{folder} holds {len(nodes)} documents, and its manifest says {manifest['nodes']}."
            )
        return found


class DocumentStore:
    """The documents of one installation in ZooKeeper, taken and put back as a whole."""

    def __init__(self, session: Session, paths: Paths, installation: str) -> None:
        self._session = session
        self._base = paths.base
        self._installation = installation

    def take(self) -> Backup:
        """Read everything.

        The pointer comes first: what it points to is written before it moves.
        """
        pointer = self._session.find(f"{self._base}/{_POINTER}", synced=True)
        nodes = {path: value for path, value in self._below("") if path != _POINTER}
        if pointer is not None:
            nodes[_POINTER] = pointer.value
        return Backup(self._installation, int(time() * 1000), dict(sorted(nodes.items())))

    def put(self, backup: Backup, *, over_present: bool) -> int:
        """Write everything that is not there as it should be, the pointer last, and return how many
        nodes that were.

        Raises BackupRefused when another installation's documents are to be put, or when there are
        documents already and `over_present` is not said.
        """
        if backup.installation != self._installation:
            raise BackupRefused(
                f"The backup is of {backup.installation!r}, and this is {self._installation!r}."
            )
        present = self.take().nodes
        if present and not over_present:
            reason = (
                f"{len(present)} documents are there already, {next(iter(present))} among them."
            )
            raise BackupRefused(
                reason,
                remedy=(
                    "Add --over-present to replace those that differ; documents that the backup "
                    "lacks stay."
                ),
            )
        wanted = [path for path, value in backup.nodes.items() if present.get(path) != value]
        for path in sorted(wanted, key=lambda each: each == _POINTER):
            self._put(path, backup.nodes[path])
        return len(wanted)

    def _put(self, path: str, value: bytes) -> None:
        try:
            self._session.put(f"{self._base}/{path}", value)
        except VersionConflict as exc:
            raise BackupRefused(
                f"{path} was written by somebody else meanwhile.",
                remedy="Restore again, with --over-present.",
            ) from exc

    def _below(self, path: str) -> Iterator[tuple[str, bytes]]:
        """Every document below a node, without those that pass."""
        try:
            names = self._session.children(f"{self._base}/{path}".rstrip("/"), synced=not path)
        except NodeMissing:
            return
        for name in names:
            child = f"{path}/{name}".lstrip("/")
            if not _passes(child):
                yield from self._document(child)
                yield from self._below(child)

    def _document(self, path: str) -> Iterator[tuple[str, bytes]]:
        node = self._session.find(f"{self._base}/{path}")
        if node is not None and node.value and node.ephemeral_owner is None:
            yield path, node.value


def _write(file: Path, text: str) -> None:
    """Write a new file for its owner alone: documents of instances hold passwords."""
    with open(
        os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
    ) as opened:
        opened.write(text)


def _passes(path: str) -> bool:
    first, *rest = path.split("/")
    return first in ("relays", "leaders", "sessions") or (
        first == "instances" and _PASSING.fullmatch("/".join(rest[1:])) is not None
    )

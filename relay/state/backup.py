"""A backup: the documents of an installation in ZooKeeper as a folder of files.

It has the nodes of `relay.state.paths` except the passing ones (`passes`): nodes of processes
(relays, leaders, the owner of an erasure), sign-ins, statuses, copy requests, and the orders and
views of failovers. Positions are in Kafka and not in the backup.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from relay.errors import BackupRefused
from relay.state.backup_file import FORMAT, from_file, newer, to_file
from relay.state.mappings.restored_mapping import MAPPINGS, POINTER, restored_mapping

_MANIFEST: Final = "backup.json"
# These nodes of an instance describe its present state or an act that is done once. A restore must
# not repeat an act, such as an order to switch the source or to copy tables.
_PASSING: Final = re.compile(
    r"(status|called|snapshots|failover/(sources/[^/]+/)?(view|orders))(/.*)?"
)
_FACTS: Final = ("topics/", "key-forms/", "erasure/settings/")
_FACTS_OF_INSTANCE: Final = re.compile(r"started|tables|dropped|failover/(sources/[^/]+/)?history")


@dataclass(frozen=True, slots=True)
class Backup:
    """The contents of a backup. `nodes` are the values by node path below the installation.

    Raises BackupRefused for a path that no backup has, such as a sign-in, a request or an order.
    `made_ms` is Unix milliseconds.
    """

    installation: str
    made_ms: int
    nodes: Mapping[str, bytes]

    def __post_init__(self) -> None:
        refused = sorted(filter(passes, self.nodes))
        if refused:
            raise BackupRefused(
                f"The backup has {len(refused)} sign-ins, requests, orders or states, which are "
                f"in no backup; the first one is {refused[0]!r}.",
                remedy="Use a backup that `roma backup` or the admin's backup page wrote, "
                "without changes.",
            )

    def changes(self, present: Mapping[str, bytes]) -> "BackupDifferences":
        """Return what a restore of this backup would write, and what it would keep.

        `present` are the present values in ZooKeeper by path.
        """
        mapping = restored_mapping(self.nodes, present)
        others = {k: v for k, v in self.nodes.items() if not k.startswith(MAPPINGS)}
        unlike = [path for path, value in others.items() if present.get(path, value) != value]
        return BackupDifferences(
            present=len(present),
            only_here=len(present.keys() - self.nodes.keys()),
            missing=(*mapping.missing, *(path for path in others if path not in present)),
            differ=(*mapping.differ, *(path for path in unlike if not is_fact(path))),
            kept=(*mapping.kept, *(path for path in unlike if is_fact(path))),
            new_set=mapping.bodies,
        )

    def write(self, folder: Path) -> None:
        """Write the backup into an empty or missing folder.

        The manifest is written last, so that an incomplete backup is not valid. Raises
        BackupRefused.
        """
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise BackupRefused(
                    f"{folder} is not empty.",
                    remedy="Name a folder that is empty or does not exist.",
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
        """Return the backup in a folder.

        Raises BackupRefused if it has a newer format, is incomplete or is damaged.
        """
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
            raise BackupRefused(f"{folder} is not a backup ({exc!r}).") from exc
        if not whole:
            raise BackupRefused(
                f"{folder} contains {len(nodes)} documents, but its manifest lists "
                f"{manifest['nodes']}."
            )
        return found


@dataclass(frozen=True, slots=True)
class BackupDifferences:
    """How the documents of a backup differ from those in ZooKeeper, by path.

    present    the number of documents in ZooKeeper
    only_here  how many of them the backup does not have; they stay
    missing    documents that ZooKeeper does not have; they are written
    differ     documents with other contents; they are replaced
    kept       facts (`is_fact`) and mapping sets with other contents; they stay as they are
    new_set    mapping documents that become the active set, with a new number; None: the pointer
               is written as it is in the backup, or stays
    """

    present: int
    only_here: int
    missing: tuple[str, ...]
    differ: tuple[str, ...]
    kept: tuple[str, ...]
    new_set: Mapping[str, str] | None = None

    @property
    def to_write(self) -> tuple[str, ...]:
        """The paths to write. The pointer of the mapping is the last one."""
        return tuple(sorted((*self.missing, *self.differ), key=lambda each: each == POINTER))


def _write(file: Path, text: str) -> None:
    """Write a new file that only its owner may read, because documents of instances contain
    passwords.
    """
    with open(
        os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
    ) as opened:
        opened.write(text)


def passes(path: str) -> bool:
    """Return whether the node is not in backups: it belongs to a process, a sign-in, a state, a
    request or an order.

    Nodes below such a node are not in backups either.
    """
    first, *rest = path.split("/")
    return (
        first in ("relays", "leaders", "sessions")
        or (first == "erasure" and rest[:1] == ["owner"])
        or (first == "instances" and _PASSING.fullmatch("/".join(rest[1:])) is not None)
    )


def is_fact(path: str) -> bool:
    """Return whether the node records a fact that relays or the admin observed, and no operator
    decides.

    Facts are agreements of topics, forms of keys, first starts, tables, past failovers, and former
    settings of topics. A present fact is newer than the one in a backup (ADR 87).
    """
    first, *rest = path.split("/")
    of_instance = first == "instances" and _FACTS_OF_INSTANCE.fullmatch("/".join(rest[1:]))
    return path.startswith(_FACTS) or bool(of_instance)

"""Computes what a restore of a backup would change, without changing anything."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import unquote

from relay.errors import BackupRefused
from relay.operations.restored_documents import kept_documents, restored_accounts
from relay.settings import RelaySettings
from relay.state import Backup, BackupDifferences, DocumentStore, Paths
from relay.state.mappings.restored_mapping import POINTER, active_number
from relay.zk import Session

_DEFINITIONS: Final = "definitions/"
_PLACEMENT: Final = "placement"
_FLOW: Final = "/flow"
_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class RestorePreview:
    """What a restore of a backup would change.

    documents  the number of documents in the backup
    made_ms    when the backup was made, in Unix milliseconds
    changes    which documents would be written, replaced and kept
    sentences  sentences for operators about these changes and their effect on relays
    """

    documents: int
    made_ms: int
    changes: BackupDifferences
    sentences: Sequence[str]


def restore_preview(settings: RelaySettings, session: Session, backup: Backup) -> RestorePreview:
    """Return what a restore of this backup would change.

    Raises BackupRefused for a backup of another installation, and StoreUnreachable.
    """
    if backup.installation != settings.installation:
        raise BackupRefused(
            f"The backup is of {backup.installation!r}, and this is {settings.installation!r}."
        )
    paths = Paths.of(settings.zookeeper, settings.installation)
    present = DocumentStore(session, paths, settings.installation).take().nodes
    changes = backup.changes(present)
    sentences = [
        _head(backup),
        *_counts(len(backup.nodes), changes),
        *kept_documents(changes),
        *_mapping(changes, present, backup.nodes),
        *_instances(changes.to_write),
        *restored_accounts(settings, session, backup),
    ]
    return RestorePreview(len(backup.nodes), backup.made_ms, changes, sentences)


def _head(backup: Backup) -> str:
    made = datetime.fromtimestamp(backup.made_ms / 1000, UTC)
    return (
        f"The backup of {backup.installation} was made on {made:%Y-%m-%d at %H:%M:%S} UTC. "
        "Positions are in Kafka: no instance moves."
    )


def _counts(documents: int, changes: BackupDifferences) -> list[str]:
    same = documents - len(changes.to_write) - len(changes.kept)
    told = [f"Documents in the backup: {documents:,}. Equal to the present ones: {same:,}."]
    if missing := len(changes.missing):
        told.append(f"Missing now, and written: {missing:,}.")
    if differ := len(changes.differ):
        told.append(f"Different now, and replaced: {differ:,}. Their present contents are lost.")
    if changes.only_here:
        told.append(f"Present, not in the backup, and kept: {changes.only_here:,}.")
    return told


def _mapping(
    changes: BackupDifferences, present: Mapping[str, bytes], wanted: Mapping[str, bytes]
) -> list[str]:
    if POINTER not in changes.to_write:
        return []
    now, then = active_number(present), active_number(wanted)
    before = f"Mapping set {now} is active now" if now else "No mapping set is active now"
    after = (
        f"Set {then} becomes active, under a new number if positions in Kafka name a newer set"
        if changes.new_set is None
        else f"The documents of the backup's set {then} become active as a new set"
    )
    return [f"{before}. {after}. Relays follow it as they follow a save."]


def _instances(changed: Sequence[str]) -> list[str]:
    told = []
    if defined := _names(changed, _DEFINITIONS, ""):
        told.append(
            f"The settings of {defined} change: relays start or restart these instances within "
            "two seconds."
        )
    if flows := _names(changed, "instances/", _FLOW):
        told.append(f"Pauses and limits of {flows} become those of the backup.")
    if _PLACEMENT in changed:
        told.append("Moves of instances and maintenance of servers become those of the backup.")
    return told


def _names(paths: Sequence[str], begin: str, end: str) -> str:
    found = [
        unquote(path.removeprefix(begin).removesuffix(end))
        for path in paths
        if path.startswith(begin) and path.endswith(end)
    ]
    more = f" and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more

"""Restores the documents of a backup, with audit entries."""

from time import time
from typing import Final

from relay.audit import AuditEntry, AuditTrail, DelayedTrail
from relay.errors import StoreRefused
from relay.model.accounts import Accounts, account_differences
from relay.model.names.mapping_name import RecordedSets
from relay.operations.mappings.recorded_sets import recorded_sets
from relay.operations.who import Who
from relay.settings import RelaySettings
from relay.state import AccountStore, Backup, BackupDifferences, DocumentStore, Note, Paths
from relay.state.accounts import from_document
from relay.state.mappings.restored_mapping import POINTER
from relay.zk import Session

_ACCOUNTS: Final = "accounts"
_FACTS: Final = (
    "These documents are mapping sets, or record what relays did: agreements of topics, text "
    "forms of keys, first starts, tables, past failovers. The present ones are newer than the "
    "backup."
)
_MOST_NOTED: Final = 100
"""Largest number of changes of users and tokens that an audit entry names."""


def restored_accounts(settings: RelaySettings, session: Session, backup: Backup) -> tuple[str, ...]:
    """Return the changes of users and tokens that a restore of the backup would cause, one sentence
    each.

    For example, a token that was revoked after the backup was made becomes valid again.
    """
    value = backup.nodes.get(_ACCOUNTS)
    if value is None:
        return ()
    try:
        wanted = from_document(value)
    except StoreRefused as refusal:
        return (f"The users of the backup replace the present ones. {refusal.reason}",)
    store = AccountStore(session, Paths.of(settings.zookeeper, settings.installation))
    try:
        return account_differences(store.read(), wanted)
    except StoreRefused as refusal:
        return (refusal.reason, *account_differences(Accounts(), wanted))


def kept_documents(changes: BackupDifferences) -> tuple[str, ...]:
    """Return a sentence about the documents that a restore keeps, as a tuple of one; () if it keeps
    none.
    """
    if not changes.kept:
        return ()
    return (f"Different now, and kept: {len(changes.kept):,}. {_FACTS}",)


def restore_documents(
    settings: RelaySettings,
    session: Session,
    backup: Backup,
    who: Who,
    acts: DelayedTrail,
    *,
    over_present: bool,
) -> BackupDifferences:
    """Write the documents of a backup into ZooKeeper; return which were written and kept.

    `acts` receives the audit entry at the end, `restore` or `restore.failed`, also while Kafka is
    unavailable. The entry `restore.begun` is in Kafka before anything is written. `over_present`:
    replace existing documents. Raises BackupRefused and StoreUnreachable, and before anything is
    written BrokerUnreachable and other errors of Kafka.
    """
    store = DocumentStore(
        session, Paths.of(settings.zookeeper, settings.installation), settings.installation
    )
    changes = store.check(backup, over_present=over_present)
    recorded = recorded_sets(settings) if POINTER in changes.to_write else RecordedSets()
    before = _before(changes)
    wanted = {
        "documents": len(backup.nodes),
        "to_write": len(changes.to_write),
        "kept": len(changes.kept),
        "backup_made_ms": backup.made_ms,
        "over_present": over_present,
        "accounts": list(restored_accounts(settings, session, backup)[:_MOST_NOTED]),
    }
    trail = AuditTrail(settings.kafka, settings.installation)
    trail.append(AuditEntry(who.name, "restore.begun", "", before, wanted, who.comment))
    written: list[str] = []
    try:
        note = Note(who.name, who.comment or "Restored from a backup.", int(time() * 1000))
        store.write(backup, changes, written.append, note=note, recorded=recorded)
    finally:
        act = "restore" if len(written) == len(changes.to_write) else "restore.failed"
        after = {**wanted, "written": len(written), "last_written": written[-1:]}
        acts.note(AuditEntry(who.name, act, "", before, after, who.comment))
    return changes


def _before(changes: BackupDifferences) -> dict[str, object]:
    """Return the audit fields of existing documents: their number, and the names of replaced ones.

    Their contents are omitted, because they may be secret.
    """
    return {
        "documents": changes.present,
        "differ": len(changes.differ),
        "first_that_differ": sorted(changes.differ)[:_MOST_NOTED],
    }

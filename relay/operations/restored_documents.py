"""Documents put back from a backup, with an entry in the audit trail."""

from relay.audit import AuditEntry, AuditTrail
from relay.operations.who import Who
from relay.settings import RelaySettings
from relay.state import Backup, DocumentStore, Paths
from relay.zk import Session


def restore_documents(
    settings: RelaySettings, session: Session, backup: Backup, who: Who, *, over_present: bool
) -> int:
    """Put the backup's documents into ZooKeeper and return how many had to be written.

    Raises BackupRefused, StoreUnreachable; BrokerUnreachable before anything is written when it
    cannot be noted down.
    """
    trail = AuditTrail(settings.kafka, settings.installation)
    trail.ensure_topic()
    store = DocumentStore(
        session, Paths.of(settings.zookeeper, settings.installation), settings.installation
    )
    written = store.put(backup, over_present=over_present)
    after = {
        "documents": len(backup.nodes),
        "written": written,
        "backup_made_ms": backup.made_ms,
        "over_present": over_present,
    }
    trail.append(AuditEntry(who.name, "restore", after=after, comment=who.comment))
    return written

"""Backups that are encrypted with a passphrase: creates, previews and restores them."""

from typing import Final

from api.errors import BadRequest
from api.middleware.request_body import BODY_LIMIT_BYTES
from api.models.installation.backup import (
    RestoreOrder,
    RestorePreviewView,
    RestoreResult,
    SealedBackup,
)
from relay.audit import AuditEntry, AuditTrail, DelayedTrail
from relay.errors import BackupRefused
from relay.operations import Who, restore_documents, restore_preview
from relay.settings import RelaySettings
from relay.state import DocumentStore, Paths
from relay.state.sealed_backup import seal, unseal
from relay.zk import Session

_LIMIT_BYTES: Final = BODY_LIMIT_BYTES * 9 // 10
"""Largest size of a sealed backup in bytes. A form with it must be within the limit of bodies."""


class BackupDesk:
    """Creates and restores backups. Each act is recorded in the audit trail."""

    def __init__(
        self, settings: RelaySettings, session: Session, trail: AuditTrail, acts: DelayedTrail
    ) -> None:
        self._settings = settings
        self._session = session
        self._trail = trail
        self._acts = acts

    def take(self, passphrase: str, who: Who) -> str:
        """Return all documents of the installation as the text of a sealed file.

        Raises BackupRefused for a passphrase that is too short, and for a backup larger than this
        admin accepts in a restore; StoreUnreachable; BrokerUnreachable if the audit entry cannot be
        written.
        """
        settings = self._settings
        paths = Paths.of(settings.zookeeper, settings.installation)
        taken = DocumentStore(self._session, paths, settings.installation).take()
        text = seal(taken, passphrase)
        if len(text) > _LIMIT_BYTES:
            raise BackupRefused(
                f"The sealed backup has {len(text):,} bytes, and the admin accepts at most "
                f"{_LIMIT_BYTES:,}.",
                remedy=(
                    "Take the backup with `roma backup FOLDER --config FILE` on a server that "
                    "has the configuration file."
                ),
            )
        after: dict[str, object] = {"documents": len(taken.nodes)}
        entry = AuditEntry(who.name, "backup.taken", "", {}, after, who.comment)
        self._trail.append(entry)
        return text

    def preview(self, sealed: SealedBackup) -> RestorePreviewView:
        """Return the effect of a restore. Raises BackupRefused, StoreUnreachable."""
        backup = unseal(sealed.text, sealed.passphrase.get_secret_value())
        return RestorePreviewView.of(restore_preview(self._settings, self._session, backup))

    def restore(self, order: RestoreOrder, who: Who) -> RestoreResult:
        """Write the documents of a backup into ZooKeeper, and return how many were written.

        Raises BadRequest if the installation's name is not confirmed, BackupRefused,
        StoreUnreachable, BrokerUnreachable.
        """
        name = self._settings.installation
        if order.confirm.strip() != name:
            raise BadRequest(
                (
                    f"You typed the name {order.confirm.strip()!r}, but this installation has the "
                    f"name {name!r}."
                ),
                remedy=f"Type {name} to confirm.",
            )
        backup = unseal(order.text, order.passphrase.get_secret_value())
        changes = restore_documents(
            self._settings, self._session, backup, who, self._acts, over_present=order.over_present
        )
        return RestoreResult(documents=len(backup.nodes), written=len(changes.to_write))

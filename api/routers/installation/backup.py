"""Endpoints to back up and restore the installation's documents. Each act is recorded in the audit
trail.
"""

import json
from typing import Annotated, Any, Final

from fastapi import APIRouter, Body
from fastapi.responses import JSONResponse

from api.deps import AdminDep, NoteDep
from api.models.installation.backup import (
    SEALED_EXAMPLE,
    BackupWish,
    RestoreOrder,
    RestorePreviewView,
    RestoreResult,
    SealedBackup,
)
from relay.operations import Who
from relay.state import Note

router: Final = APIRouter(prefix="/api/v1/backup", tags=["backup"])


@router.post(
    "",
    response_class=JSONResponse,
    responses={200: {"content": {"application/json": {"example": SEALED_EXAMPLE}}}},
)
def take_backup(admin: AdminDep, wish: BackupWish, note: NoteDep) -> dict[str, Any]:
    """Return all documents of the installation in a file that is encrypted with the passphrase.

    The documents contain hashes of passwords and tokens. A document of an instance may contain
    secrets in clear text. Positions are not in the file: they are in Kafka.
    """
    found: dict[str, Any] = json.loads(admin.backups.take(_text(wish), _who(note)))
    return found


@router.post("/restore/preview")
def preview_restore(admin: AdminDep, sealed: Annotated[SealedBackup, Body()]) -> RestorePreviewView:
    """Return the effect of a restore. Nothing is changed."""
    return admin.backups.preview(sealed)


@router.post("/restore")
def restore_backup(admin: AdminDep, order: RestoreOrder, note: NoteDep) -> RestoreResult:
    """Restore the documents of a backup. Present documents that the backup does not contain are
    kept.
    """
    return admin.backups.restore(order, _who(note))


def _text(wish: BackupWish) -> str:
    return wish.passphrase.get_secret_value()


def _who(note: Note) -> Who:
    return Who(note.author, note.comment)

"""The page of backups: create, compare and restore one."""

from functools import partial
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from api.composition import Admin
from api.deps import AdminDep
from api.errors import BadRequest
from api.models.installation.backup import RestoreOrder, RestorePreviewView, SealedBackup
from api.web.acts import Shown, check_confirmed, done, in_dialog, model_from, who_from
from api.web.forms import Form, FormDep
from relay.errors import RelayError

router: Final = APIRouter(include_in_schema=False, prefix="/backup")


@router.get("")
def show_backup(request: Request, admin: AdminDep) -> HTMLResponse:
    """Show the page with a form for creating a backup and one for a restore."""
    return _page(admin).render(request)


@router.post("/take")
def take(request: Request, admin: AdminDep, form: FormDep) -> Response:
    """Return a sealed backup as a file to download."""
    with in_dialog(request, "take", form, partial(_page, admin)):
        if form["passphrase"] != form["again"]:
            raise BadRequest(
                "The two passphrases differ.", remedy="Type the same passphrase twice."
            )
        text = admin.backups.take(form["passphrase"], who_from(request, form))
    name = f"{admin.settings.installation}-backup.json"
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
    }
    return Response(text, media_type="application/json", headers=headers)


@router.post("/preview")
def preview(request: Request, admin: AdminDep, form: FormDep) -> HTMLResponse:
    """Show the effect of a restore. Nothing is changed."""
    with in_dialog(request, "preview", form, partial(_page, admin, form["file"])):
        sealed = model_from(SealedBackup, file=form["file"], passphrase=form["passphrase"])
        found = admin.backups.preview(sealed)
    return _page(admin, form["file"], found).render(request)


@router.post("/restore")
def restore(request: Request, admin: AdminDep, form: FormDep) -> RedirectResponse:
    """Write the documents of a backup into ZooKeeper."""
    with in_dialog(request, "restore", form, partial(_again, admin, form["file"], form)):
        check_confirmed(form, admin.settings.installation, "installation")
        order = model_from(
            RestoreOrder,
            file=form["file"],
            passphrase=form["passphrase"],
            confirm=form["confirm"],
            over_present=True,
        )
        admin.backups.restore(order, who_from(request, form))
    return done("../backup", "restored")


def _again(admin: Admin, file: str, form: Form) -> Shown:
    """Return the page with its preview, without it if the passphrase does not open the file."""
    try:
        sealed = model_from(SealedBackup, file=file, passphrase=form["passphrase"])
        return _page(admin, file, admin.backups.preview(sealed))
    except RelayError:
        return _page(admin, file)


def _page(admin: Admin, file: str = "", found: RestorePreviewView | None = None) -> Shown:
    values: dict[str, object] = {
        "title": "Backup",
        "installation": admin.settings.installation,
        "file": file,
        "found": found,
    }
    return Shown("installation/backup.html", values, "backup")

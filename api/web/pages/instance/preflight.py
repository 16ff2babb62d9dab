"""The page that checks everything that an instance needs."""

from functools import partial
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from api.composition import Admin
from api.deps import AdminDep
from api.models.installation.preflight import PreflightView
from api.web.acts import Shown, in_dialog
from api.web.forms import FormDep

router: Final = APIRouter(include_in_schema=False, prefix="/instances/{name}/preflight")


@router.get("")
def show_preflight(request: Request, admin: AdminDep, name: str) -> HTMLResponse:
    """Show the list of checks, and the button that starts them."""
    return _page(admin, name, None).render(request)


@router.post("")
def run_preflight(request: Request, admin: AdminDep, name: str, form: FormDep) -> HTMLResponse:
    """Check everything, and show the findings. Nothing is changed."""
    with in_dialog(request, "check", form, partial(_page, admin, name, None)):
        found = admin.preflight.check(name)
    return _page(admin, name, found).render(request)


def _page(admin: Admin, name: str, found: PreflightView | None) -> Shown:
    """Return the page. Raises NodeMissing."""
    admin.directory.instance(name)
    passed = [each for each in found.findings if each.verdict == "pass"] if found else []
    values: dict[str, object] = {
        "title": f"Preflight of {name}",
        "name": name,
        "found": found,
        "findings": [each for each in found.findings if each.verdict != "pass"] if found else [],
        "passed": passed,
    }
    return Shown("instance/preflight.html", values, "overview")

"""The page that removes an instance that will never publish again from its topics."""

from functools import partial
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from api.composition import Admin
from api.deps import AdminDep
from api.web.acts import Shown, check_confirmed, done, in_dialog, who_from
from api.web.forms import FormDep
from relay.operations import Retirement

router: Final = APIRouter(include_in_schema=False, prefix="/instances/{name}/retire")


@router.get("")
def show_retirement(request: Request, admin: AdminDep, name: str) -> HTMLResponse:
    """Show the topics that the instance feeds, before it is retired.

    The instance need not be in any configuration.
    """
    return _page(admin, name).render(request)


@router.post("")
def retire(request: Request, admin: AdminDep, name: str, form: FormDep) -> RedirectResponse:
    """Remove the instance from its topics."""
    with in_dialog(request, "retire", form, partial(_page, admin, name)):
        check_confirmed(form, name)
        _retirement(admin, name).carry_out(who_from(request, form))
    return done("retire", "retired")


def _page(admin: Admin, name: str) -> Shown:
    values: dict[str, object] = {
        "title": f"Retire {name}",
        "name": name,
        "topics": _retirement(admin, name).topics(),
    }
    return Shown("instance/retire.html", values, "overview")


def _retirement(admin: Admin, name: str) -> Retirement:
    return Retirement(admin.settings, name, admin.session)

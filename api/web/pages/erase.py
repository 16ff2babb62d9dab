"""The page to erase a person: search terms, findings, and the act."""

from functools import partial
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from api.composition import Admin
from api.deps import AdminDep, caller_of
from api.models.values.erasure import ErasureOrder, ErasureView, ErasureWish
from api.web.acts import Shown, check_confirmed, done, in_dialog, model_from, who_from
from api.web.forms import Form, FormDep
from relay.operations import ErasureChoice

router: Final = APIRouter(include_in_schema=False)

_Box = Annotated[bool, Query()]


@router.get("/erase")
def show_erase(
    request: Request,
    admin: AdminDep,
    number: Annotated[str, Query(max_length=40)] = "",
    delete_records: _Box = False,
    by_text: _Box = False,
) -> HTMLResponse:
    """Show the form, and the search of this number with the effect of the selected options."""
    return _page(admin, number, ErasureChoice(delete_records, by_text)).render(request)


@router.post("/erase")
def search(request: Request, admin: AdminDep, form: FormDep) -> RedirectResponse:
    """Start a search for a person's keys and texts."""
    with in_dialog(request, "look", form, partial(_page, admin, "", ErasureChoice())):
        wish = model_from(
            ErasureWish,
            keys=form["keys"].splitlines(),
            texts=form["texts"].splitlines(),
            topics=form["topics"].split(),
        )
        found = admin.erasures.search(wish, caller_of(request).name)
    return RedirectResponse(f"erase?number={found.number}", status_code=303)


@router.post("/erase/{number}/erase")
def erase(request: Request, admin: AdminDep, number: str, form: FormDep) -> RedirectResponse:
    """Start to erase what a search has found."""
    choice = _choice(form)
    with in_dialog(request, "erase", form, partial(_page, admin, number, choice)):
        check_confirmed(form, admin.settings.installation, "installation")
        order = model_from(
            ErasureOrder,
            confirm=form["confirm"],
            delete_records=choice.delete_records,
            by_text=choice.by_text,
        )
        admin.erasures.erase(number, order, who_from(request, form))
    return done(f"../../erase?number={number}", "erasure-begun")


@router.post("/erase/{number}/forget")
def forget(request: Request, admin: AdminDep, number: str, form: FormDep) -> RedirectResponse:
    """Delete a search together with its keys and texts."""
    with in_dialog(request, "forget", form, partial(_page, admin, number, ErasureChoice())):
        admin.erasures.forget(number)
    return done("../../erase", "search-forgotten")


def _choice(form: Form) -> ErasureChoice:
    return ErasureChoice(form.checked("delete_records"), form.checked("by_text"))


def _page(admin: Admin, number: str, choice: ErasureChoice) -> Shown:
    found: ErasureView | None = admin.erasures.show(number, choice) if number else None
    values: dict[str, object] = {
        "title": "Erase a person",
        "installation": admin.settings.installation,
        "found": found,
        "choice": choice,
        "every": admin.erasures.shown(),
    }
    return Shown("installation/erase.html", values, "audit")

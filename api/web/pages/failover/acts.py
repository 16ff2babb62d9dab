"""Forms by which operators give orders about servers to the leading relay. Each calls the same
service as the REST endpoint.
"""

from functools import partial
from typing import Final
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse

from api.deps import AdminDep
from api.models.failover import AcceptLossRequest, SwitchRequest
from api.web.acts import check_confirmed, done, in_dialog, model_from, note_from
from api.web.forms import Form, FormDep
from api.web.pages.failover.page import failover_page

router: Final = APIRouter(include_in_schema=False, prefix="/instances/{name}/failover")


@router.post("/switch")
def switch(request: Request, admin: AdminDep, name: str, form: FormDep) -> RedirectResponse:
    """Order a switch to the other server."""
    with in_dialog(request, _dialog("switch", form), form, partial(failover_page, admin, name)):
        check_confirmed(form, name)
        wanted = model_from(SwitchRequest, source=form["source"], to=form["to"])
        admin.failover.switch(name, wanted.source, wanted.to, note_from(request, form))
    return _back(name, "switch-ordered")


@router.post("/hold")
def hold(request: Request, admin: AdminDep, name: str, form: FormDep) -> RedirectResponse:
    """Prevent switches because of failed heartbeats."""
    with in_dialog(request, _dialog("hold", form), form, partial(failover_page, admin, name)):
        admin.failover.hold(name, form["source"], note_from(request, form))
    return _back(name, "held")


@router.post("/release")
def release(request: Request, admin: AdminDep, name: str, form: FormDep) -> RedirectResponse:
    """Withdraw all failover orders."""
    with in_dialog(request, _dialog("release", form), form, partial(failover_page, admin, name)):
        admin.failover.release(name, form["source"], note_from(request, form))
    return _back(name, "released")


@router.post("/accept-loss")
def accept_loss(request: Request, admin: AdminDep, name: str, form: FormDep) -> RedirectResponse:
    """Accept the loss of transactions that a server lacks."""
    with in_dialog(request, _dialog("accept", form), form, partial(failover_page, admin, name)):
        check_confirmed(form, name)
        wanted = model_from(AcceptLossRequest, source=form["source"], gtids=form["gtids"].strip())
        admin.failover.accept_loss(name, wanted.source, wanted.gtids, note_from(request, form))
    return _back(name, "loss-accepted")


def _dialog(act: str, form: Form) -> str:
    return f"{act}-{form['source']}"


def _back(name: str, key: str) -> RedirectResponse:
    return done(f"../../../failover?instance={quote(name, safe='')}", key)

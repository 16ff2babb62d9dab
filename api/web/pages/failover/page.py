"""The page that shows which server each source is read from, and the proof for a switch of one
instance.
"""

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from api.composition import Admin
from api.deps import AdminDep
from api.models.failover import FailoverAnswer
from api.readings import Reading
from api.web.acts import Shown
from api.web.views import failover as view
from api.web.views.unread import Part, read_parts
from relay.errors import NodeMissing

router: Final = APIRouter(include_in_schema=False)


@router.get("/failover")
def show_failover(request: Request, admin: AdminDep, instance: str = "") -> HTMLResponse:
    """Show every source, and the proof of the selected instance."""
    return failover_page(admin, instance).render(request)


def failover_page(admin: Admin, instance: str) -> Shown:
    """Return the failover page with the proof of `instance`; empty: without a proof.

    Raises NodeMissing for an unknown instance.
    """
    moment = admin.watch.present()
    read = read_parts((Part("every", "the servers of the sources", admin.failover.known),))
    known: Reading[list[FailoverAnswer]] | None = read.values.get("every")
    answers = [] if known is None else known.value
    chosen = next((each for each in answers if each.instance == instance), None)
    if instance and known is not None and chosen is None:
        raise NodeMissing(f"There is no instance {instance!r}.")
    found = view.rows(answers)
    details = [
        (source, standby, view.verdict(standby), view.proof(standby) if standby else [])
        for source in (view.sources(chosen) if chosen else [])
        for standby in (view.other(source),)
    ]
    values: dict[str, object] = {
        "title": "Failover",
        "sentence": view.sentence(found),
        "rows": found,
        "moment": moment,
        "unread": read.unread,
        "known": known,
        "chosen": chosen,
        "facts": moment.facts.get(instance),
        "details": details,
    }
    return Shown("failover/page.html", values, "failover")

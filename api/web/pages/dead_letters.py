"""Dead letters of all instances, one of them, and sending it again."""

from http import HTTPStatus
from typing import Annotated, Final, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response

from api.composition import Admin
from api.deps import AdminDep, NoteDep
from api.models.dead_letter import DeadLetterView
from api.web.acts import done
from api.web.forms import FormDep
from api.web.rendering import render
from relay.operations import Who, instance_of, replay

router: Final = APIRouter(include_in_schema=False)
_SHOWN: Final = 20_000
"""Characters of a value that the page shows; the rest is in the download."""
_COMMENT: Final = 2000


@router.get("/dead-letters")
def show_letters(
    request: Request,
    admin: AdminDep,
    instance: Annotated[str, Query(max_length=200)] = "",
    show: Literal["waiting", "sent", "all"] = "waiting",
) -> HTMLResponse:
    """Show what instances kept back."""
    names = [each.name for each in admin.directory.instances()]
    letters = admin.letters.listed(instance)
    counts = {
        "waiting": sum(each.replayed_ms is None for each in letters),
        "sent": sum(each.replayed_ms is not None for each in letters),
        "all": len(letters),
    }
    shown = [
        each
        for each in letters
        if show == "all" or (each.replayed_ms is None) == (show == "waiting")
    ]
    values: dict[str, object] = {
        "title": "Dead letters",
        "letters": shown,
        "counts": counts,
        "instance": instance,
        "instances": names,
        "show": show,
    }
    return render(request, "dead_letters.html", values, section="dead-letters")


@router.get("/dead-letters/{instance}/{letter}")
def show_letter(request: Request, admin: AdminDep, instance: str, letter: str) -> HTMLResponse:
    """Show one dead letter with its value."""
    return _letter(request, admin, instance, letter)


@router.post("/dead-letters/{instance}/{letter}/replay")
def replay_letter(
    request: Request, admin: AdminDep, instance: str, letter: str, form: FormDep, note: NoteDep
) -> Response:
    """Send a dead letter's message to its topic."""
    comment = form["comment"].strip()[:_COMMENT]
    if not comment or form["confirm"].strip() != letter:
        error = "Say why." if not comment else f"Type {letter}."
        return _letter(request, admin, instance, letter, error)
    admin.dead_letters(instance)
    settings = instance_of(admin.settings, instance, admin.session, resolved=False)
    who = Who(note.author or "admin", comment)
    replay(admin.settings, settings, letter, who, again=form.checked("again"))
    return done(f"../{quote(letter, safe='')}", "letter-sent")


def _letter(
    request: Request, admin: Admin, instance: str, letter: str, error: str = ""
) -> HTMLResponse:
    listed = admin.dead_letters(instance).letter(letter)
    value = (listed.letter.message.value or b"").decode("utf-8", "replace")
    values = {
        "title": f"Dead letter {letter}",
        "instance": instance,
        "letter": DeadLetterView.of(listed),
        "value": value[:_SHOWN],
        "cut": len(value) > _SHOWN,
        "error": error,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if error else HTTPStatus.OK
    return render(request, "dead_letter.html", values, section="dead-letters", status=status)

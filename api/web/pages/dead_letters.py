"""Dead letters of all instances, one of them, and its replay."""

import shlex
from functools import partial
from typing import Annotated, Final, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from api.composition import Admin
from api.deps import AdminDep
from api.web.acts import Shown, check_confirmed, done, in_dialog, who_from
from api.web.forms import FormDep
from api.web.rendering import render
from relay.dead_letters import DeadLetter
from relay.operations import instance_of, replay

router: Final = APIRouter(include_in_schema=False)
_SHOWN: Final = 20_000
"""Characters of a value that the page shows; the rest is in the download."""


@router.get("/dead-letters")
def show_letters(
    request: Request,
    admin: AdminDep,
    instance: Annotated[str, Query(max_length=200)] = "",
    show: Literal["waiting", "sent", "all"] = "waiting",
) -> HTMLResponse:
    """Show the dead letters of the instances."""
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
    return _letter(admin, instance, letter).render(request)


@router.post("/dead-letters/{instance}/{letter}/replay")
def replay_letter(
    request: Request, admin: AdminDep, instance: str, letter: str, form: FormDep
) -> RedirectResponse:
    """Send a dead letter's message to its topic."""
    with in_dialog(request, "replay", form, partial(_letter, admin, instance, letter)):
        check_confirmed(form, letter, "dead letter", what="id")
        admin.dead_letters(instance)
        settings = instance_of(admin.settings, instance, admin.session, resolved=False)
        again = form.checked("again")
        replay(admin.settings, settings, letter, who_from(request, form), again=again)
    return done(f"../{quote(letter, safe='')}", "letter-sent")


def _letter(admin: Admin, instance: str, letter: str) -> Shown:
    listed = admin.dead_letters(instance).letter(letter)
    value = (listed.letter.message.value or b"").decode("utf-8", "replace")
    values = {
        "title": f"Dead letter {letter}",
        "instance": instance,
        "letter": admin.letters.one(instance, letter),
        "value": value[:_SHOWN],
        "cut": len(value) > _SHOWN,
        "command": _command(instance, listed.letter),
    }
    return Shown("dead_letter.html", values, "dead-letters")


def _command(instance: str, letter: DeadLetter) -> str:
    """Return the command that shows the letter's transaction in the binlog."""
    at = f"--file {shlex.quote(letter.file)} --offset {letter.offset}"
    if not letter.file:
        return ""
    return f"roma binlog show {shlex.quote(instance)} {at} --limit 20 --config FILE"

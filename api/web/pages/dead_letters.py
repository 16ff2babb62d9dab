"""Pages of dead letters: the list of all instances, and one dead letter with its replay."""

import shlex
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Final, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from api.access import Caller
from api.composition import Admin
from api.deps import AdminDep, CallerDep
from api.models.dead_letter import ListedLetterView
from api.services.dead_letter_lists import SHOWN_ROWS, newest_first
from api.web.acts import Shown, check_confirmed, done, in_dialog, who_from
from api.web.forms import FormDep
from api.web.rendering import render
from api.web.views.unread import Part, PartsRead, read_parts
from relay.dead_letters import DeadLetter
from relay.errors import NodeMissing
from relay.operations import instance_of, replay

router: Final = APIRouter(include_in_schema=False)
_SHOWN: Final = 20_000
"""Characters of a value that the page shows; the rest is in the download."""
_NAMED: Final = 5
"""Most instances that a note about missing dead letters names."""


@router.get("/dead-letters")
def show_letters(
    request: Request,
    admin: AdminDep,
    caller: CallerDep,
    instance: Annotated[str, Query(max_length=200)] = "",
    show: Literal["waiting", "sent", "all"] = "waiting",
) -> HTMLResponse:
    """Show the dead letters of all instances or of one, filtered by whether they were sent
    again.
    """
    moment = admin.watch.present()
    names = sorted(moment.facts)
    if instance and moment.read_ms and instance not in names:
        raise NodeMissing(f"There is no instance {instance!r}.")
    found = _read(admin, caller, [instance] if instance else names)
    letters = _listed(found)
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
        "unread": [each._replace(missing=_named(each.missing)) for each in found.unread],
        "moment": moment,
        "counts": counts,
        "instance": instance,
        "instances": names,
        "show": show,
    }
    return render(request, "dead_letters.html", values, section="dead-letters")


def _read(admin: Admin, caller: Caller, names: Sequence[str]) -> PartsRead:
    """Read the dead letters of each instance; one that cannot be read does not hide the others."""
    lists = admin.letters
    return read_parts(
        [
            Part(name, name, partial(lists.of_known, name, values=caller.sees_values))
            for name in names
        ]
    )


def _listed(found: PartsRead) -> list[ListedLetterView]:
    return newest_first(
        ListedLetterView(instance=name, **each.model_dump())
        for name, letters in found.values.items()
        for each in letters
    )


def _named(instances: Sequence[str]) -> list[str]:
    """Return the words for the dead letters of these instances."""
    more = len(instances) - _NAMED
    named = ", ".join(instances[:_NAMED])
    return [f"the dead letters of {named}{f' and {more} more' if more > 0 else ''}"]


@router.get("/dead-letters/{instance}/{letter}")
def show_letter(
    request: Request,
    admin: AdminDep,
    caller: CallerDep,
    instance: str,
    letter: str,
    row: Annotated[int, Query(ge=0, le=2**31)] = 0,
) -> HTMLResponse:
    """Show one dead letter with the columns of its rows, from the number `row` on."""
    return _letter(admin, caller, instance, letter, row).render(request)


@router.post("/dead-letters/{instance}/{letter}/replay")
def replay_letter(
    request: Request,
    admin: AdminDep,
    caller: CallerDep,
    instance: str,
    letter: str,
    form: FormDep,
) -> RedirectResponse:
    """Send a dead letter's message to its topic."""
    with in_dialog(request, "replay", form, partial(_letter, admin, caller, instance, letter)):
        check_confirmed(form, letter, "dead letter", what="id")
        admin.directory.instance(instance)
        settings = instance_of(admin.settings, instance, admin.session, resolved=False)
        again = form.checked("again")
        replay(admin.settings, settings, letter, who_from(request, form), again=again)
    return done(f"../{quote(letter, safe='')}", "letter-sent")


def _letter(admin: Admin, caller: Caller, instance: str, letter: str, first: int = 0) -> Shown:
    values = caller.sees_values
    stored, view, found = admin.letters.shown(instance, letter, first, values=values)
    text = _text(stored.letter.message.value) if values and not found.hides else ""
    after = first + SHOWN_ROWS
    page: dict[str, object] = {
        "title": f"Dead letter {letter}",
        "instance": instance,
        "letter": view,
        "found": found,
        "first": first,
        "before": max(0, first - SHOWN_ROWS) if first else None,
        "after": after if after < found.count else None,
        "value": text[:_SHOWN],
        "cut": len(text) > _SHOWN,
        "command": _command(instance, stored.letter),
    }
    return Shown("dead_letter.html", page, "dead-letters")


def _text(value: bytes | None) -> str:
    """Return the value as text; empty for bytes that are no text."""
    try:
        return (value or b"").decode("utf-8")
    except UnicodeDecodeError:
        return ""


def _command(instance: str, letter: DeadLetter) -> str:
    """Return the command that shows the letter's transaction in the binlog."""
    at = f"--file {shlex.quote(letter.file)} --offset {letter.offset}"
    if not letter.file:
        return ""
    return f"roma binlog show {shlex.quote(instance)} {at} --limit 20 --config FILE"

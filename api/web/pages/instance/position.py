"""Forms for acts on the position record, except for moves: skip a transaction, raise order keys,
repartition a topic.
"""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Final, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel

from api.composition import Admin
from api.deps import AdminDep
from api.models.position import (
    Floor,
    FloorWish,
    PositionView,
    Repartitioning,
    RepartitionOrder,
    Skip,
    SkipWish,
)
from api.web.acts import Shown, check_confirmed, done, in_dialog, model_from, who_from
from api.web.forms import Form, FormDep
from api.web.views import position as view
from api.web.views.relay_names import RelayNames
from api.web.views.unread import unread_part
from relay.errors import RelayError, Unreachable

router: Final = APIRouter(include_in_schema=False, prefix="/instances/{name}/position")

Act = Literal["", "skip", "unskip", "raise-floor", "repartition"]


class Asked(BaseModel):
    """The act and its fields as typed. An empty act requests nothing."""

    act: Act = ""
    gtid: str = ""
    source: str = ""
    above: str = ""
    topic: str = ""
    partitions: str = ""
    table: str = ""
    without: str = ""


@router.get("")
def show_position(
    request: Request, admin: AdminDep, name: str, asked: Annotated[Asked, Query()]
) -> HTMLResponse:
    """Show the position record, the forms, and the effect of the requested act. Nothing is
    changed.
    """
    return _page(admin, name, asked).render(request)


@router.post("/skip")
def skip(request: Request, admin: AdminDep, name: str, form: FormDep) -> RedirectResponse:
    """Skip a coming transaction."""
    return _skip(request, admin, name, form, undo=False)


@router.post("/unskip")
def unskip(request: Request, admin: AdminDep, name: str, form: FormDep) -> RedirectResponse:
    """Withdraw the skip of a transaction, so that it is published."""
    return _skip(request, admin, name, form, undo=True)


@router.post("/raise-floor")
def raise_floor(request: Request, admin: AdminDep, name: str, form: FormDep) -> RedirectResponse:
    """Raise the instance's order keys above those of another instance."""
    asked = _asked("raise-floor", form)

    def act() -> None:
        floor = Floor(above=asked.above, confirm=name)
        admin.positions.raise_floor(name, floor, who_from(request, form))

    return _carried_out(request, admin, name, form, asked, act, "floor-raised")


@router.post("/repartition")
def repartition(request: Request, admin: AdminDep, name: str, form: FormDep) -> RedirectResponse:
    """Change how the rows of a topic are assigned to partitions."""
    asked = _asked("repartition", form)

    def act() -> None:
        fields = {**_partition_fields(asked), "without": asked.without or None, "confirm": name}
        order = model_from(RepartitionOrder, **fields)
        admin.positions.repartition(name, order, who_from(request, form))

    return _carried_out(request, admin, name, form, asked, act, "repartitioned")


def _skip(request: Request, admin: Admin, name: str, form: Form, *, undo: bool) -> RedirectResponse:
    asked = _asked("unskip" if undo else "skip", form)

    def act() -> None:
        wish = Skip(gtid=asked.gtid, undo=undo, source=asked.source or None, confirm=name)
        admin.positions.skip(name, wish, who_from(request, form))

    key = "skip-withdrawn" if undo else "skip-ordered"
    return _carried_out(request, admin, name, form, asked, act, key)


def _carried_out(
    request: Request,
    admin: Admin,
    name: str,
    form: Form,
    asked: Asked,
    act: Callable[[], None],
    key: str,
) -> RedirectResponse:
    with in_dialog(request, "confirm", form, partial(_page, admin, name, asked)):
        check_confirmed(form, name)
        act()
    return done(f"../../{quote(name, safe='')}/position", key)


def _page(admin: Admin, name: str, asked: Asked) -> Shown:
    """Return the page; an error of the reading or the preview is shown in place. Raises
    NodeMissing.
    """
    instance = admin.directory.instance(name)
    position: PositionView | None = None
    sentences: list[str] = []
    problem: RelayError | None = None
    try:
        position = admin.positions.read(name)
        sentences = _foretold(admin, name, asked)
    except RelayError as exc:
        problem = exc
    leader = None if position is None else position.leader
    values: dict[str, object] = {
        "title": f"Position of {name}",
        "name": name,
        "instance": instance,
        "position": position,
        "skips": view.skips(position),
        "others": [each.name for each in admin.directory.instances() if each.name != name],
        "asked": asked,
        "fields": asked.model_dump(exclude={"act"}, exclude_defaults=True),
        "sentences": sentences,
        "button": view.button(asked.act, name, asked.gtid, asked.topic),
        "problem": None if problem is None else unread_part(problem),
        "problem_is_silence": isinstance(problem, Unreachable),
        "leader": RelayNames.of(admin.watch.moment().relays)(leader or ""),
        "commands": [] if position is None else view.commands(position),
    }
    return Shown("instance/position.html", values, "overview")


def _foretold(admin: Admin, name: str, asked: Asked) -> list[str]:
    match asked.act:
        case "skip" | "unskip" if asked.gtid:
            wish = SkipWish(gtid=asked.gtid, undo=asked.act == "unskip")
            return admin.positions.preview_skip(name, wish)
        case "raise-floor" if asked.above:
            return admin.positions.preview_floor(name, FloorWish(above=asked.above))
        case "repartition" if asked.topic:
            wanted = model_from(Repartitioning, **_partition_fields(asked))
            return admin.positions.plan_repartition(name, wanted).sentences
    return []


def _partition_fields(asked: Asked) -> dict[str, object]:
    return {
        "topic": asked.topic,
        "partitions": asked.partitions.replace(",", "") or None,
        "table": asked.table or None,
    }


def _asked(act: Act, form: Form) -> Asked:
    names = [name for name in Asked.model_fields if name != "act"]
    return Asked(act=act, **{name: form[name].strip() for name in names})

"""The page of a logical table's messages. With JavaScript it also shows new messages."""

from http import HTTPStatus
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from api.access import Caller
from api.composition import Admin
from api.deps import AdminDep, CallerDep
from api.error_status import problem_of, status_of
from api.models.peek import Operation, PeekedRowView, PeekWish
from api.routers.peek import check_no_key
from api.services.peek import AskedPeek
from api.web.acts import model_from
from api.web.forms import FormDep
from api.web.rendering import render
from api.web.views.peek import STARTS, PeekView, RowLocation, stream_body, view_of
from relay.errors import RelayError
from relay.operations import PeekTables, near_names

router: Final = APIRouter(include_in_schema=False)
_OPERATIONS: Final = ("INSERT", "UPDATE", "DELETE")
_SELECTED_TABLES: Final = 200
_LISTED_TABLES: Final = 2000
"""Of more tables the field proposes these, and takes every name."""


@router.get("/peek")
def show_peek(
    request: Request,
    admin: AdminDep,
    caller: CallerDep,
    table: Annotated[str, Query(max_length=300)] = "",
    op: Operation = "",
    start: Annotated[str, Query(alias="from", max_length=40)] = "last",
    m: Annotated[str, Query(max_length=40)] = "",
) -> HTMLResponse:
    """Show the newest messages of a table, and the columns of one message.

    `start` is where to begin, `m` the partition, offset and row number of the selected message.
    """
    check_no_key(request)
    return _page(request, admin, caller, AskedPeek(table, op, "", start), m)


@router.post("/peek")
def show_keys(request: Request, admin: AdminDep, caller: CallerDep, form: FormDep) -> Response:
    """Show the messages of one key. Without a key, redirect to the URL of the same view."""
    fields = {"table": form["table"], "op": form["op"], "from": form["from"] or "last"}
    wish = model_from(PeekWish, key=form["key"].strip(), **fields)
    if not wish.key:
        asked = {name: value for name, value in fields.items() if value}
        return RedirectResponse(f"./peek?{urlencode(asked)}", HTTPStatus.SEE_OTHER)
    return _page(request, admin, caller, wish.asked(), form["m"])


def _page(
    request: Request, admin: Admin, caller: Caller, asked: AskedPeek, message: str
) -> HTMLResponse:
    tables = admin.peek.tables()
    place = RowLocation.read(message)
    view, error = PeekView(), None
    if asked.table:
        view, error = _looked(admin, caller, tables, (asked, place))
    values: dict[str, object] = {
        "title": "Peek",
        "tables": tables.names[:_LISTED_TABLES],
        "choose": len(tables.names) <= _SELECTED_TABLES,
        "asked": asked,
        "operations": _OPERATIONS,
        "starts": STARTS,
        "view": view,
        "part": place is not None and "hx-request" in request.headers,
        "error": None if error is None else problem_of(error),
        "near": near_names(asked.table, tables.names) if error is not None else (),
        "stream": stream_body(asked, view) if asked.table and error is None else "",
    }
    status = HTTPStatus.OK if error is None else status_of(error)
    return render(request, "peek.html", values, section="peek", status=status)


def _looked(
    admin: Admin,
    caller: Caller,
    tables: PeekTables,
    wanted: tuple[AskedPeek, RowLocation | None],
) -> tuple[PeekView, RelayError | None]:
    """Return the visible rows, or the error that the page shows next to its form."""
    asked, place = wanted
    try:
        with admin.peek.opened(caller, tables, asked) as reading:
            chosen = None if place is None else reading.row_at(*place)
            page = None if asked.start == "now" else reading.page()
    except RelayError as error:
        return PeekView(), error
    rows = () if page is None else tuple(map(PeekedRowView.of, page.rows))
    shown = PeekedRowView.of(chosen) if chosen is not None else None
    return view_of(page, rows, shown, is_gone=place is not None and chosen is None), None

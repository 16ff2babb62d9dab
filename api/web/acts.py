"""Helpers for acts that are requested by the form of a page: they read the caller and the form,
redirect, and show the page again after an error.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, ValidationError

from api.deps import caller_of
from api.errors import BadRequest
from api.middleware.request_body import note_now
from api.models.problem import Problem
from api.web.forms import Form
from api.web.rendering import render
from relay.errors import RelayError
from relay.operations import Who
from relay.state import Note

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Shown:
    """A page that is not rendered yet: template, values, and key of its navigation entry.

    The template's dialogs read three further values: `failed` (the failed dialog), `error` (the
    reason) and `typed` (the typed values).
    """

    template: str
    values: Mapping[str, object]
    section: str

    def render(self, request: Request) -> HTMLResponse:
        """Return the rendered page, with no dialog open."""
        values = {"failed": "", "error": None, "typed": {}, **self.values}
        return render(request, self.template, values, section=self.section)


def note_from(request: Request, form: Form) -> Note:
    """Return author, comment and present time of an act, from the caller and the form."""
    return note_now(caller_of(request).name, form["comment"])


def who_from(request: Request, form: Form) -> Who:
    """Return the author and the comment of an operator act, from the caller and the form."""
    note = note_from(request, form)
    return Who(note.author, note.comment)


def model_from(kind: type[Model], **fields: Any) -> Model:
    """Return a request of the REST interface with these fields.

    Raises BadRequest, which names the first invalid field.
    """
    try:
        return kind.model_validate(fields)
    except ValidationError as exc:
        first = exc.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise BadRequest(f"{name}: {first['msg']}.") from exc


def check_confirmed(form: Form, name: str, of: str = "instance", *, what: str = "name") -> None:
    """Check that a form repeats a name and has a comment.

    name  the name that the field `confirm` must contain
    of    noun for the named thing, in the error
    what  noun for the name itself, in the error

    Raises BadRequest.
    """
    if form["confirm"].strip() != name:
        raise BadRequest(
            (
                f"You typed the {what} {form['confirm'].strip()!r}, but the {of} has the {what} "
                f"{name!r}."
            ),
            remedy=f"Type {name} to confirm.",
        )
    if not form["comment"].strip():
        raise BadRequest(
            "A comment is required.", remedy="Write a comment that says why you do this."
        )


def done(address: str, key: str) -> RedirectResponse:
    """Return a redirect to a page that shows the sentence of an act's success.

    address  the page, relative to the form's URL
    key      key of the sentence in `api.web.done.DONE`
    """
    mark = "&" if "?" in address else "?"
    return RedirectResponse(f"{address}{mark}done={key}", status_code=HTTPStatus.SEE_OTHER)


@contextmanager
def in_dialog(
    request: Request, dialog: str, form: Form, show: Callable[[], Shown]
) -> Iterator[None]:
    """Context manager: if the block raises RelayError, the answer is the page again, with the
    dialog open and the typed values.

    dialog  name of the dialog in the template
    show    returns the page
    """
    try:
        yield
    except RelayError:
        with suppress(RelayError):
            request.state.failed_page = _failed_page(request, dialog, form, show())
        raise


def _failed_page(
    request: Request, dialog: str, form: Form, shown: Shown
) -> Callable[[Problem], HTMLResponse]:
    def page(problem: Problem) -> HTMLResponse:
        values = {**shown.values, "failed": dialog, "error": problem, "typed": form}
        status = HTTPStatus(problem.status)
        return render(request, shown.template, values, section=shown.section, status=status)

    return page

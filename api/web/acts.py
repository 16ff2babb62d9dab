"""Acts from a page's form: the caller, the answer, and the page after an error."""

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
    """A page before it is written: template, values and entry of the navigation.

    Its dialogs read `failed`, `error` and `typed`: the failed dialog, the reason, and the typed
    values.
    """

    template: str
    values: Mapping[str, object]
    section: str

    def render(self, request: Request) -> HTMLResponse:
        """Return the page without an error."""
        values = {"failed": "", "error": None, "typed": {}, **self.values}
        return render(request, self.template, values, section=self.section)


def note_from(request: Request, form: Form) -> Note:
    """Return the note of an act: the caller's name and the comment in the form."""
    return note_now(caller_of(request).name, form["comment"])


def who_from(request: Request, form: Form) -> Who:
    """Return the author and the comment of an operator act."""
    note = note_from(request, form)
    return Who(note.author, note.comment)


def model_from(kind: type[Model], **fields: Any) -> Model:
    """Return the request that a form makes. Raises BadRequest."""
    try:
        return kind.model_validate(fields)
    except ValidationError as exc:
        first = exc.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise BadRequest(f"{name}: {first['msg']}.") from exc


def check_confirmed(form: Form, name: str, of: str = "instance", *, what: str = "name") -> None:
    """Return if the form repeats the name and has a comment. Raises BadRequest."""
    if form["confirm"].strip() != name:
        raise BadRequest(
            f"The {what} typed is {form['confirm'].strip()!r}, and the {of} is {name!r}.",
            remedy=f"Type {name} to confirm.",
        )
    if not form["comment"].strip():
        raise BadRequest("A comment is required.", remedy="Write why you do this.")


def done(address: str, key: str) -> RedirectResponse:
    """Redirect to a page, relative to the form's address, with the key of the result sentence."""
    mark = "&" if "?" in address else "?"
    return RedirectResponse(f"{address}{mark}done={key}", status_code=HTTPStatus.SEE_OTHER)


@contextmanager
def in_dialog(
    request: Request, dialog: str, form: Form, show: Callable[[], Shown]
) -> Iterator[None]:
    """Context manager: after an error of the act, show the page again, with the dialog open and
    the typed values.
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

"""The overview: what needs a person, then every instance."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from api.deps import AdminDep
from api.models.instance import InstanceView
from api.web.rendering import render
from api.web.words import counted

router: Final = APIRouter(include_in_schema=False)


@router.get("/")
def show_overview(request: Request, admin: AdminDep) -> HTMLResponse:
    """Show the overview."""
    instances = admin.directory.instances()
    return render(
        request,
        "overview.html",
        {"title": "Overview", "sentence": _sentence(instances), "instances": instances},
        section="overview",
    )


def _sentence(instances: Sequence[InstanceView]) -> str:
    states = Counter(each.state.lower() for each in instances)
    parts = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    return f"{counted(len(instances), 'instance')}{': ' + parts if parts else ''}."
